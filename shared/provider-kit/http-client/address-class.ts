import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** An IP address of either family. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** A block of addresses: the first one and the number of leading bits that all share. */
export type IpBlock = readonly [address: IpAddress, prefixLength: number];

/**
 * What an attacker could reach at an address: this machine, the link (where clouds keep their metadata services), a private network,
 * something else that is not the public internet, or the public internet.
 */
export type AddressClass = 'localhost' | 'linkLocal' | 'private' | 'special' | 'public';

const classOfRange: Readonly<Record<string, AddressClass>> = {
  unicast: 'public',
  loopback: 'localhost',
  unspecified: 'localhost',
  linkLocal: 'linkLocal',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  deprecatedSiteLocal: 'private',
};

/** Metadata and credential services that clouds keep outside the link-local ranges (Azure, Alibaba, AWS, Google). */
const metadataServices: readonly IpBlock[] = [
  [ipaddr.parse('168.63.129.16'), 32],
  [ipaddr.parse('100.100.100.200'), 32],
  [ipaddr.parse('fd00:ec2::'), 32],
  [ipaddr.parse('fd20:ce::254'), 128],
];

/** The only IPv6 block that is allocated for the public internet. */
const globalUnicast: IpBlock = [ipaddr.parse('2000::'), 3];

/** The well-known prefix of NAT64: the last 32 bits are the destination's IPv4 address. */
const nat64: IpBlock = [ipaddr.parse('64:ff9b::'), 96];

/** The class of an address, by the IPv4 address in it if there is one. */
export function classifyAddress(address: IpAddress): AddressClass {
  const target = unwrapIpv4(address);
  if (isInAny(target, metadataServices)) return 'linkLocal';
  if (isOwnAddress(target)) return 'localhost';
  const kind = classOfRange[target.range()] ?? 'special';
  return kind === 'public' && target instanceof ipaddr.IPv6 && !isIn(target, globalUnicast)
    ? 'special'
    : kind;
}

/** True for an address of one of this machine's network interfaces, public ones included. */
function isOwnAddress(address: IpAddress): boolean {
  const text = address.toNormalizedString();
  return Object.values(networkInterfaces())
    .flat()
    .some((own) => own !== undefined && parseAddress(own.address).toNormalizedString() === text);
}

/** The IPv4 address in an IPv4-mapped or NAT64 address; any other address unchanged. */
export function unwrapIpv4(address: IpAddress): IpAddress {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return isIn(address, nat64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

/**
 * Reads an address that the system or the URL parser wrote. A zone (`fe80::1%eth0`) names an interface, not a host.
 *
 * @throws Error if it is none.
 */
export function parseAddress(text: string): IpAddress {
  const [address = ''] = text.split('%', 1);
  return ipaddr.parse(address);
}

/** Whether an address is in one of the blocks. */
export function isInAny(address: IpAddress, blocks: readonly IpBlock[]): boolean {
  return blocks.some((block) => isIn(address, block));
}

function isIn(address: IpAddress, [first, prefixLength]: IpBlock): boolean {
  return address.kind() === first.kind() && address.match(first, prefixLength);
}
