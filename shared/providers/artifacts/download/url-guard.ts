import { isIP } from 'node:net';
import { AccessDeniedError } from '#core/errors.ts';
import {
  classifyAddress,
  type IpAddress,
  isInAny,
  parseAddress,
  unwrapIpv4,
} from '#provider-kit/http-client/address-class.ts';
import type { UrlRestrictions } from './url-restrictions.ts';

/** The key that refuses each class. Special addresses cannot be allowed as a class, only one by one. */
const refusals = {
  localhost: { rule: 'rejectLocalhost', reason: 'it is this machine' },
  linkLocal: { rule: 'rejectLinkLocal', reason: 'its address is link-local or a metadata service' },
  private: { rule: 'rejectPrivateIps', reason: 'its address is private' },
  special: { rule: 'allowedIps', reason: 'its address is not a public one' },
} as const;

/** Longest host name, in characters: that of DNS (RFC 1035, 2.3.4). Rules, which may be any patterns, see no longer ones. */
export const hostLengthMax = 253;

/**
 * Refuses a URL by its scheme, user information and host, before any look-up. `assertAddressesAllowed` checks the addresses that the host
 * resolves to.
 *
 * A user name or password in a URL is refused whatever the restrictions say: credentials belong to the account, and text before an `@` can
 * look like an allowed host.
 *
 * @throws AccessDeniedError naming the host and the rule, never more of the URL, which may hold secrets.
 */
export function assertUrlAllowed(url: URL, restrictions: UrlRestrictions): void {
  const host = getHost(url);
  const scheme = url.protocol.slice(0, -1);
  if (!restrictions.allowedSchemes.includes(scheme)) {
    throw new AccessDeniedError(`Scheme '${scheme}' is not allowed (urlRestrictions.allowedSchemes)`);
  }
  if (host.length > hostLengthMax) {
    throw new AccessDeniedError(
      `Host '${formatHost(host)}' is not allowed: a name has at most ${hostLengthMax} characters`,
    );
  }
  if (restrictions.allowedHostnames === undefined && restrictions.allowedDomains.length === 0) {
    deny(host, 'allowedHostnamesRegex', 'no host names are allowed');
  }
  if (restrictions.allowedDomains.length > 0 && !matchesAny(host, restrictions.allowedDomains)) {
    deny(host, 'allowedDomains', 'it is not listed');
  }
  if (isIP(host) !== 0) assertLiteralAllowed(host, restrictions);
  else if (!isNameAllowed(host, restrictions) && !isLocalAllowed(restrictions)) denyName(host);
  if (hasUserInfo(url)) {
    throw new AccessDeniedError(`A URL of host '${host}' is not allowed: it holds a user name or password`);
  }
}

/** Whether a URL holds a user name or a password. */
export function hasUserInfo({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

/** A host for a message: only its beginning if it is longer than any real one. */
export function formatHost(host: string): string {
  return host.length <= hostLengthMax ? host : `${host.slice(0, 64)}…`;
}

/**
 * Refuses a host by its resolved or connected addresses; one bad address is enough. Checking the connection itself also catches a name that
 * changes its address between two look-ups.
 *
 * @throws AccessDeniedError naming the host and the rule. The addresses are left out: they reveal the network.
 */
export function assertAddressesAllowed(
  host: string,
  addresses: readonly string[],
  restrictions: UrlRestrictions,
): void {
  const parsed = addresses.map(parseAddress);
  for (const address of parsed) assertAddressAllowed(host, address, restrictions);
  const name = stripRootDot(host.toLowerCase());
  // As in Spinnaker, allowing localhost or link-local spares the operator from listing such names as well.
  if (isIP(name) === 0 && !isNameAllowed(name, restrictions) && !parsed.every(isLocal)) denyName(name);
}

/** The host of a URL in the form for rules: lower case, IPv6 without brackets, names without the dot of the DNS root. */
function getHost(url: URL): string {
  const { hostname } = url;
  return hostname.startsWith('[') ? hostname.slice(1, -1) : stripRootDot(hostname.toLowerCase());
}

function assertLiteralAllowed(host: string, restrictions: UrlRestrictions): void {
  const address = parseAddress(host);
  if (restrictions.rejectVerbatimIps && !isInAny(unwrapIpv4(address), restrictions.allowedIps)) {
    deny(host, 'rejectVerbatimIps', 'a name is needed in place of an IP address');
  }
  assertAddressAllowed(host, address, restrictions);
}

function assertAddressAllowed(host: string, address: IpAddress, restrictions: UrlRestrictions): void {
  const target = unwrapIpv4(address);
  if (isInAny(target, restrictions.rejectedIps) || isInAny(address, restrictions.rejectedIps)) {
    deny(host, 'rejectedIps', 'its address is excluded');
  }
  if (isInAny(target, restrictions.allowedIps)) return;
  const kind = classifyAddress(address);
  if (kind === 'public') return;
  const { rule, reason } = refusals[kind];
  if (rule === 'allowedIps' || restrictions[rule]) deny(host, rule, reason);
}

function isLocal(address: IpAddress): boolean {
  return ['localhost', 'linkLocal'].includes(classifyAddress(address));
}

function isLocalAllowed(restrictions: UrlRestrictions): boolean {
  return !restrictions.rejectLocalhost || !restrictions.rejectLinkLocal;
}

function isNameAllowed(name: string, restrictions: UrlRestrictions): boolean {
  if (restrictions.allowedDomainNames.includes(name)) return true;
  return (
    restrictions.allowedHostnames?.test(name) === true && !matchesAny(name, restrictions.excludedHostnames)
  );
}

function matchesAny(text: string, patterns: readonly RegExp[]): boolean {
  return patterns.some((pattern) => pattern.test(text));
}

/**
 * `orca.internal.` is `orca.internal` in a form that a rule on the end of the name would miss. A loop, since a pattern for trailing dots
 * would start again at each dot of `...x`.
 */
function stripRootDot(host: string): string {
  let end = host.length;
  while (host[end - 1] === '.') end -= 1;
  return host.slice(0, end);
}

function denyName(host: string): never {
  deny(host, 'allowedHostnamesRegex, excludedDomains', 'its name is excluded');
}

function deny(host: string, rule: string, reason: string): never {
  throw new AccessDeniedError(`Host '${host}' is not allowed: ${reason} (urlRestrictions.${rule})`);
}
