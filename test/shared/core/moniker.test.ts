import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMoniker } from '#core/moniker.ts';

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
