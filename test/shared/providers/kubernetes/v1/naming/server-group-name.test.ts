import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  formatClusterName,
  formatServerGroupName,
  parseServerGroupName,
} from '#providers/kubernetes/v1/naming/server-group-name.ts';

describe('the name of a V1 server group', () => {
  test.each([
    ['kub-test-v000', { app: 'kub', cluster: 'kub-test', stack: 'test', sequence: 0 }],
    ['kub--mdservice-v012', { app: 'kub', cluster: 'kub--mdservice', detail: 'mdservice', sequence: 12 }],
    ['kub-v1', { app: 'kub', cluster: 'kub-v1', stack: 'v1' }],
    ['kub', { app: 'kub', cluster: 'kub' }],
    ['kub-v007', { app: 'kub', cluster: 'kub', sequence: 7 }],
    ['kub-v123456', { app: 'kub', cluster: 'kub', sequence: 123_456 }],
    ['kub-v1234567', { app: 'kub', cluster: 'kub-v1234567', stack: 'v1234567' }],
    [
      'kub-test-a-b--c-v999',
      { app: 'kub', cluster: 'kub-test-a-b--c', stack: 'test', detail: 'a-b--c', sequence: 999 },
    ],
    ['kub-test-d0dev-v001', { app: 'kub', cluster: 'kub-test-d0dev', stack: 'test', sequence: 1 }],
    ['kub-c0us-d0dev', { app: 'kub', cluster: 'kub-c0us-d0dev' }],
    [
      'kub-test-d0dev-x-v001',
      { app: 'kub', cluster: 'kub-test-d0dev-x', stack: 'test', detail: 'd0dev-x', sequence: 1 },
    ],
    ['d0dev', { app: 'd0dev', cluster: 'd0dev' }],
    ['kub-v001-d0dev', { app: 'kub', cluster: 'kub-v001-d0dev' }],
    ['', {}],
    ['-test-v000', {}],
    ['-d0dev', {}],
    ['kub test', {}],
    ['kub:test-v000', {}],
  ])('%s is read as Frigga reads it', (name, moniker) => {
    expect(parseServerGroupName(name)).toEqual(moniker);
  });

  test.each([
    [{ application: 'kub' }, 'kub'],
    [{ application: 'kub', stack: 'test' }, 'kub-test'],
    [{ application: 'kub', stack: 'test', detail: 'a-b' }, 'kub-test-a-b'],
    [{ application: 'kub', stack: '', detail: 'a' }, 'kub--a'],
    [{ application: 'kub', stack: undefined, detail: '' }, 'kub'],
  ])('the cluster of %j is %s', (parts, name) => {
    expect(formatClusterName(parts)).toBe(name);
  });

  it('is read back into what it was made of', () => {
    const word = fc.stringMatching(/^[a-z][b-z]{0,8}$/);
    const parts = fc.record({ application: word, stack: fc.option(word), detail: fc.option(word) });
    fc.assert(
      fc.property(parts, fc.nat(999_999), ({ application, stack, detail }, sequence) => {
        const optional = { stack: stack ?? undefined, detail: detail ?? undefined };
        const cluster = formatClusterName({ application, ...optional });
        expect(parseServerGroupName(formatServerGroupName(cluster, sequence))).toEqual({
          ...{ app: application, cluster, sequence },
          ...(stack !== null && { stack }),
          ...(detail !== null && { detail }),
        });
      }),
    );
  });

  it('of any text is read in time that grows with its length', () => {
    for (const text of ['-a0b', '-', 'a0', '-v000', 'v0']) {
      const used = process.threadCpuUsage();
      parseServerGroupName(`a${text.repeat(50_000)}!`);
      parseServerGroupName(`a${text.repeat(50_000)}`);
      expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(2_000);
    }
  });
});
