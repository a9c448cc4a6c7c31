import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareGoStrings, formatGoJson } from '#providers/kubernetes/manifest/go-json.ts';

describe('formatGoJson', () => {
  test('sorts members by the bytes of their keys, numbers among them', () => {
    const value = { b: 1, a: [{ z: null, y: true }], 10: 'x', 9: 'y', A: -0.5, é: '', '😀': 1, '\uffff': 2 };
    expect(formatGoJson(value)).toBe(
      '{"10":"x","9":"y","A":-0.5,"a":[{"y":true,"z":null}],"b":1,"é":"","\uffff":2,"😀":1}',
    );
  });

  test('escapes what Go escapes', () => {
    expect(formatGoJson('<a href="x">&</a>\u2028\u2029')).toBe(
      '"\\u003ca href=\\"x\\"\\u003e\\u0026\\u003c/a\\u003e\\u2028\\u2029"',
    );
    expect(formatGoJson('\b\f\n\r\t\u0001\u001f\u007f\\/')).toBe(
      '"\\b\\f\\n\\r\\t\\u0001\\u001f\u007f\\\\/"',
    );
    expect(formatGoJson('half \ud83d pair')).toBe('"half \ufffd pair"');
  });

  test('writes numbers as Go does', () => {
    expect(formatGoJson([0, 1e20, 1e21, 1.5e-7, 0.000001, 123456789012])).toBe(
      '[0,100000000000000000000,1e+21,1.5e-7,0.000001,123456789012]',
    );
    expect(formatGoJson({ b: [9223372036854775807n], a: -9007199254740993n })).toBe(
      '{"a":-9007199254740993,"b":[9223372036854775807]}',
    );
  });

  test('keeps a member named __proto__', () => {
    expect(formatGoJson(JSON.parse('{"__proto__":{"a":1},"b":2}'))).toBe('{"__proto__":{"a":1},"b":2}');
  });

  test('loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(formatGoJson(plain))).toEqual(plain);
      }),
    );
  });
});

test('compareGoStrings orders texts by their UTF-8 bytes', () => {
  const texts = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(texts, texts, (left, right) => {
      expect(Math.sign(compareGoStrings(left, right))).toBe(
        Buffer.compare(Buffer.from(left), Buffer.from(right)),
      );
    }),
  );
  expect(compareGoStrings('\uffff', '😀')).toBeLessThan(0);
});
