import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatheredBytes } from '#core/gathered-bytes.ts';

test('gives back what was added, in one piece and once', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), (parts) => {
      const given = parts.map((part) => part.slice());
      const gathered = new GatheredBytes();
      for (const part of given) gathered.add(part);
      const whole = Buffer.concat(parts);
      expect(gathered.length).toBe(whole.length);
      expect(Buffer.from(gathered.take())).toEqual(whole);
      expect(given).toEqual(parts);
      expect(gathered.length).toBe(0);
      expect(gathered.take()).toHaveLength(0);
    }),
  );
});

test('takes no more memory for a million parts than for one', () => {
  const part = Buffer.from('x');
  const gathered = new GatheredBytes();
  const before = process.memoryUsage();
  for (let count = 0; count < 1_000_000; count += 1) gathered.add(part);
  const after = process.memoryUsage();
  const grownBytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  expect(grownBytes).toBeLessThan(20e6);
  expect(gathered.take()).toHaveLength(1_000_000);
});
