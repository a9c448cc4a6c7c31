import { describe, expect, test } from 'vitest';
import { compilePattern } from './event-pattern.ts';

const event = {
  source: 'busdriver',
  'detail-type': 'TaskCompleted',
  resources: ['arn:one', 'arn:two'],
  detail: { account: 'prod-eu', attempts: 3, failed: false, nothing: null, nested: { deep: 'Value' } },
};

describe('a pattern', () => {
  test.each([
    [{ source: ['other', 'busdriver'] }],
    [{ detail: { attempts: [3] } }],
    [{ detail: { failed: [false] } }],
    [{ detail: { nothing: [null] } }],
    [{ detail: { nested: { deep: ['Value'] } } }],
    [{ resources: ['arn:two'] }],
    [{ detail: { account: [{ prefix: 'prod-' }] } }],
    [{ detail: { account: [{ suffix: '-eu' }] } }],
    [{ detail: { nested: { deep: [{ 'equals-ignore-case': 'vaLUE' }] } } }],
    [{ detail: { account: [{ 'anything-but': ['test', 'dev'] }] } }],
    [{ detail: { account: [{ 'anything-but': 'test' }] } }],
    [{ detail: { account: [{ 'anything-but': { prefix: 'test' } }] } }],
    [{ detail: { account: [{ exists: true }] } }],
    [{ detail: { missing: [{ exists: false }] } }],
    [{ detail: { missing: { deep: [{ exists: false }] } } }],
    [{ detail: { attempts: [{ numeric: ['>', 0, '<=', 3] }] } }],
    [{ source: ['busdriver'], detail: { attempts: [1, { numeric: ['=', 3] }] } }],
    [{}],
  ])('%j matches', (pattern) => {
    expect(compilePattern(JSON.stringify(pattern))(event)).toBe(true);
  });

  test.each([
    [{ source: ['BUSDRIVER'] }],
    [{ detail: { attempts: ['3'] } }],
    [{ detail: { failed: [null] } }],
    [{ resources: ['arn:three'] }],
    [{ detail: { account: [{ prefix: 'test' }] } }],
    [{ detail: { account: [{ 'anything-but': ['prod-eu'] }] } }],
    [{ detail: { missing: [{ 'anything-but': 'x' }] } }],
    [{ detail: { account: [{ 'anything-but': { prefix: 'prod' } }] } }],
    [{ detail: { account: [{ exists: false }] } }],
    [{ detail: { missing: [{ exists: true }] } }],
    [{ detail: { attempts: [{ numeric: ['>', 3] }] } }],
    [{ detail: { account: [{ numeric: ['>', 3] }] } }],
    [{ source: ['busdriver'], detail: { attempts: [4] } }],
    [{ toString: ['x'] }],
  ])('%j does not match', (pattern) => {
    expect(compilePattern(JSON.stringify(pattern))(event)).toBe(false);
  });

  test.each([
    ...['nonsense', '[]', '{"a":"b"}', '{"a":[]}', '{"a":[{"wildcard":"x*"}]}'],
    ...['{"a":[{"numeric":["~",1]}]}'],
  ])('%s is refused', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow('Event pattern is not valid');
  });
});
