import { isIPv4, isIPv6 } from 'node:net';
import type { ValueType } from './context-values.ts';

/** The widest ranges that a VPC can have, in bits of the network: "VPC CIDR blocks" in the guide of Amazon VPC. */
const vpcBits = { ipv4: 16, ipv6: 44 } as const;

/** A range of addresses, taken apart. */
interface Range {
  readonly family: 'ipv4' | 'ipv6';
  /** Bits of the network: the fewer, the wider. */
  readonly bits: number;
}

/** A range of IPv4 or IPv6 addresses in CIDR notation. */
export const rangeType: ValueType<string> = {
  expected: 'a range like 10.20.0.0/16 or 2001:db8:12::/48',
  parse: (value) => (findRange(String(value)) === undefined ? undefined : String(value)),
};

/** Whether a well-formed range is one of IPv6 addresses. */
export function isIpv6Range(cidr: string): boolean {
  return findRange(cidr)?.family === 'ipv6';
}

/** Whether a well-formed range has more addresses than a VPC can have in one. */
export function isWiderThanVpc(cidr: string): boolean {
  const range = findRange(cidr);
  return range === undefined || range.bits < vpcBits[range.family];
}

function findRange(cidr: string): Range | undefined {
  // Neither a zone nor the IPv4 notation of an IPv6 address: EC2 takes neither.
  const [, address = '', digits] = /^([\da-f.]+|[\da-f:]+)\/(0|[1-9]\d{0,2})$/i.exec(cidr) ?? [];
  const bits = Number(digits);
  if (isIPv4(address) && bits <= 32) return { family: 'ipv4', bits };
  return isIPv6(address) && bits <= 128 ? { family: 'ipv6', bits } : undefined;
}
