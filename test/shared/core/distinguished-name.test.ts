import { describe, expect, it } from 'vitest';
import { isSameDistinguishedName, parseDistinguishedName } from '#core/distinguished-name.ts';

function isSame(one: string, other: string): boolean {
  const [first, second] = [parseDistinguishedName(one), parseDistinguishedName(other)];
  if (first === undefined || second === undefined) throw new Error('no distinguished name');
  return isSameDistinguishedName(first, second);
}

describe('distinguished names', () => {
  it.each([
    ['CN=edge-7,O=Acme', 'cn=edge-7, o = Acme'],
    ['CN=edge-7,O=Acme', 'CN="edge-7";O=Acme'],
    [String.raw`CN=a\,b,O=Acme`, 'CN="a,b",O=Acme'],
    [String.raw`CN=J\C3\BCrgen`, 'CN=Jürgen'],
    ['CN=edge-7+OU=eu,O=Acme', 'OU=eu+CN=edge-7,O=Acme'],
    [String.raw`CN=a\+OU=b`, 'CN="a+OU=b"'],
  ])('%s is %s', (one, other) => {
    expect(isSame(one, other)).toBe(true);
  });

  it.each([
    ['another order', 'CN=edge-7,O=Acme', 'O=Acme,CN=edge-7'],
    ['less', 'CN=edge-7,O=Acme', 'CN=edge-7'],
    ['more', 'CN=edge-7,O=Acme', 'CN=edge-7,O=Acme,C=DE'],
    ['a longer value', 'CN=edge-7,O=Acme', 'CN=edge-77,O=Acme'],
    ['a value in another case', 'CN=edge-7,O=Acme', 'CN=Edge-7,O=Acme'],
    ['one part in the place of two', 'CN=edge-7,O=Acme', 'CN=edge-7+O=Acme'],
    ['a value that reads as a part', 'CN=edge-7,O=Acme', String.raw`CN=edge-7\,O\=Acme`],
    ['another attribute', 'CN=edge-7', 'OU=edge-7'],
    ['a blank that is none of HTTP’s behind its value', 'CN=edge-7,O=Acme', 'CN=edge-7\u00a0,O=Acme'],
    ['one before its value', 'CN=edge-7,O=Acme', 'CN=\ufeffedge-7,O=Acme'],
    ['an attribute of another part', 'CN=a+OU=b,O=c', 'CN=a,OU=b+O=c'],
  ])('with %s it is another one', (_what, one, other) => {
    expect(isSame(one, other)).toBe(false);
  });

  it.each([
    ...['', 'edge-7', 'CN=', '=a', 'CN=a,', 'CN=a+', 'CN=a+b', 'CN="a', 'CN=a\\', 'CN=\\00', 'CN=\\ff'],
    ...['\u00a0CN=a', '.*'],
  ])('%j is none', (text) => {
    expect(parseDistinguishedName(text)).toBeUndefined();
  });
});
