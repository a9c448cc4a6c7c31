import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from 'vitest';
import { chooseAddress } from '#infra/kubernetes/peers/host-names.ts';

const make = (family: 'IPv4' | 'IPv6') => [{ family } as NetworkInterfaceInfo];

test('all addresses are those of IPv6 and IPv4, or of IPv4 on a machine that has no others', () => {
  expect(chooseAddress('::', { lo: make('IPv4'), eth0: make('IPv6') })).toBe('::');
  expect(chooseAddress('::', { lo: make('IPv4') })).toBe('0.0.0.0');
  expect(chooseAddress('::', { lo: undefined })).toBe('0.0.0.0');
  expect(chooseAddress('127.0.0.1', { lo: make('IPv4') })).toBe('127.0.0.1');
});
