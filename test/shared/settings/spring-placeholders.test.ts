import { describe, expect, test } from 'vitest';
import { bindDocuments } from '#settings/spring-config.ts';
import { hasPlaceholder } from '#settings/spring-placeholders.ts';

describe('placeholders', () => {
  /** Placeholders in these tests begin with `#{`, so that they cannot be taken for template strings. */
  const unmask = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('#{', '$\u007b'));
  const resolve = (text: string, environment = {}, settings = {}) =>
    bindDocuments({ documents: [unmask({ text, ...settings })], profiles: [], environment }).text;

  test.each([
    ['#{HOST}', 'h'],
    ['http://#{HOST}:#{PORT:80}/#{PATH:}', 'http://h:80/'],
    ['#{MISSING:#{HOST}}', 'h'],
    ['#{MISSING:#{GONE:#{HOST}-x}}', 'h-x'],
    ['#{#{WHICH}}', 'h'],
    ['#{MISSING:http://a:1}', 'http://a:1'],
    ['#{MISSING:{"a":"b"}}', '{"a":"b"}'],
    ['#{host}', 'h'],
    ['#{the.host-name}', 'n'],
    ['#{user.home}/.kube', '/home/me/.kube'],
    ['#{MISSING}', '#{MISSING}'],
    ['#{open', '#{open'],
    ['$HOST and $#{HOST}', '$HOST and $h'],
  ])('%s is %s', (text, expected) => {
    const environment = { HOST: 'h', WHICH: 'HOST', THE_HOST_NAME: 'n', HOME: '/home/me' };
    expect(resolve(text, environment)).toBe(unmask(expected));
  });

  test('names are settings too, after the environment', () => {
    const settings = {
      services: { front50: { 'base-url': 'http://f:#{port}' } },
      port: 8080,
      empty: null,
      map: {},
    };
    expect(resolve('#{services.front50.baseUrl}', {}, settings)).toBe('http://f:8080');
    expect(resolve('#{services.front50.baseUrl}', { SERVICES_FRONT50_BASEURL: 'http://e' }, settings)).toBe(
      'http://e',
    );
    expect(resolve('[#{empty:x}]', {}, settings)).toBe('[]');
    expect(resolve('#{map:x}', {}, settings)).toBe('x');
  });

  test('an upper-case name is not the setting of that name', () => {
    expect(resolve('#{PORT:1}', {}, { port: '#{PORT:7002}' })).toBe('1');
  });

  test('a circle is refused by its names', () => {
    expect(() => resolve('#{a.b}', {}, { a: { b: '#{c}' }, c: '#{a.b}' })).toThrow(
      'placeholders refer to each other in a circle: a.b -> c -> a.b',
    );
  });

  test('they are filled in everywhere, and only in values', () => {
    const documents = [unmask({ list: [{ '#{K}': '#{V}' }, ['#{V}'], 1, null, true] })];
    expect(bindDocuments({ documents, profiles: [], environment: { V: 'v', K: 'k' } })).toEqual(
      unmask({ list: [{ '#{K}': 'v' }, ['v'], 1, null, true] }),
    );
  });

  test('hasPlaceholder() tells what is left over', () => {
    expect(hasPlaceholder(unmask('a/#{B}'))).toBe(true);
    expect(hasPlaceholder(unmask('a/#{B'))).toBe(false);
    expect(hasPlaceholder('a/$B{}')).toBe(false);
  });
});
