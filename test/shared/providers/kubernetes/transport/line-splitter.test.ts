import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter, LineTooLongError } from '#providers/kubernetes/transport/line-splitter.ts';

test('finds the same lines wherever the stream is cut, even within a character', () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll('\n', 'ö'));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].sort(
        (a, b) => a - b,
      );
      const splitter = new LineSplitter(1_000_000);
      const found: string[] = [];
      let start = 0;
      for (const end of ends) {
        found.push(...splitter.push(bytes.subarray(start, end)));
        start = end;
      }
      expect(found).toEqual(lines);
      expect(splitter.pendingBytes).toBe(0);
    }),
  );
});

test('leaves empty lines out, and keeps a line whose end has not come', () => {
  const splitter = new LineSplitter(100);
  expect(splitter.push(Buffer.from('\n\none\n\ntw'))).toEqual(['one']);
  expect(splitter.pendingBytes).toBe(2);
  expect(splitter.push(Buffer.from('o\n'))).toEqual(['two']);
});

test('refuses to gather a line without end', () => {
  const splitter = new LineSplitter(10);
  splitter.push(Buffer.alloc(6, 'x'));
  expect(() => splitter.push(Buffer.alloc(6, 'x'))).toThrow(LineTooLongError);
});
