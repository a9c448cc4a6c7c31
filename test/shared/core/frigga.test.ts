import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  formatClusterName,
  formatServerGroupName,
  parseMoniker,
  parseServerGroupName,
} from '#core/frigga.ts';

describe('parseMoniker', () => {
  test.each([
    ['cart', { app: 'cart', cluster: 'cart' }],
    ['cart-prod-eu', { app: 'cart', cluster: 'cart-prod-eu', stack: 'prod', detail: 'eu' }],
    [
      'cart-prod-eu-v012',
      { app: 'cart', cluster: 'cart-prod-eu', stack: 'prod', detail: 'eu', sequence: 12 },
    ],
    ['cart-v123', { app: 'cart', cluster: 'cart', sequence: 123 }],
    ['cart-v1234', { app: 'cart', cluster: 'cart', sequence: 1234 }],
    ['cart-v123456', { app: 'cart', cluster: 'cart', sequence: 123456 }],
    ['cart-v000', { app: 'cart', cluster: 'cart', sequence: 0 }],
    ['cart-v12', { app: 'cart', cluster: 'cart-v12', stack: 'v12' }],
    ['cart-v1234567', { app: 'cart', cluster: 'cart-v1234567', stack: 'v1234567' }],
    ['cart-V001', { app: 'cart', cluster: 'cart-V001', stack: 'V001' }],
    ['cart-v001-x', { app: 'cart', cluster: 'cart-v001-x', stack: 'v001', detail: 'x' }],
    ['kube-dns', { app: 'kube', cluster: 'kube-dns', stack: 'dns' }],
    ['a--b', { app: 'a', cluster: 'a--b', detail: 'b' }],
    ['a-', { app: 'a', cluster: 'a-' }],
    ['a-b-c-d~e^f', { app: 'a', cluster: 'a-b-c-d~e^f', stack: 'b', detail: 'c-d~e^f' }],
    ['my.app_1-x', { app: 'my.app_1', cluster: 'my.app_1-x', stack: 'x' }],
    ['v001', { app: 'v001', cluster: 'v001' }],
    ['-v001', {}],
    ['', {}],
    ['foo:bar', {}],
    ['replicaSet cart-v000', {}],
    ['cart-a~b', {}],
    ['cart\n', {}],
    ['cärt', {}],
    ['system:coredns', { app: 'system', cluster: 'system:coredns' }],
    ['system:coredns-v003', { app: 'system', cluster: 'system:coredns', sequence: 3 }],
    ['system:controller:job-controller', { app: 'system', cluster: 'system:controller:job-controller' }],
    ['system:x-v1234567', { app: 'system', cluster: 'system:x-v1234567' }],
    ['system', { app: 'system', cluster: 'system' }],
  ])('reads %j', (name, moniker) => {
    expect(parseMoniker(name)).toEqual(moniker);
  });

  test('never throws, and gives a cluster exactly where it gives an application', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z~^:.-]{0,20}(-v\d{0,8})?$/)), (name) => {
        const { app, cluster, stack, detail, sequence } = parseMoniker(name);
        expect(app === undefined).toBe(cluster === undefined);
        if (cluster === undefined)
          expect([stack, detail, sequence]).toEqual([undefined, undefined, undefined]);
        else expect(name.startsWith(cluster)).toBe(true);
      }),
    );
  });

  const segment = fc.stringMatching(/^[a-zA-Z0-9._]{1,8}$/);
  const version = fc.integer({ min: 0, max: 999_999 });

  test('finds the parts that a name was made of', () => {
    fc.assert(
      fc.property(fc.tuple(segment, segment, segment), version, ([app, stack, detail], sequence) => {
        const cluster = `${app}-${stack}-${detail}`;
        const name = `${cluster}-v${String(sequence).padStart(3, '0')}`;
        expect(parseMoniker(name)).toEqual({ app, stack, detail, cluster, sequence });
      }),
    );
  });

  test('takes time in proportion to the name', () => {
    const used = process.threadCpuUsage();
    parseMoniker(`${'a-'.repeat(50_000)}!`);
    parseMoniker(`system:${'-v001'.repeat(50_000)}!`);
    expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(2_000);
  });
});

describe('the name of a server group', () => {
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
