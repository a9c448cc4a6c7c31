import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { AccessDeniedError } from '#core/errors.ts';
import { classifyAddress, parseAddress } from '#provider-kit/http-client/address-class.ts';
import { createGuardedLookup } from '#provider-kit/http-client/guarded-lookup.ts';
import type { RegistryAccount } from './account.ts';

/** The registry, and the hosts besides its own to which it may send us. */
type ForeignHostRules = Pick<RegistryAccount, 'baseUrl' | 'trustedHosts'>;

/**
 * Refuses a URL from a registry unless it is clearly safe to call: `https`, or `http` if the registry itself uses that; without user and
 * password; with a name, or a public address.
 *
 * @throws AccessDeniedError naming the host, never more of the URL.
 */
export function assertForeignUrlAllowed(url: URL, rules: ForeignHostRules): void {
  const isPlainAllowed = rules.baseUrl.protocol === 'http:';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPlainAllowed)) {
    throw refuse(url.hostname, 'it is to be called without TLS');
  }
  if (url.username + url.password !== '') throw refuse(url.hostname, 'its URL holds a user name or password');
  const host = stripBrackets(url.hostname);
  if (isIP(host) !== 0) assertAddressesAllowed(url.hostname, [host], rules);
}

/**
 * Resolves names, and refuses those with an address that is not public. The checked addresses are the ones to which it connects. The
 * registry's own host, and trusted ones, may have any address.
 */
export function createForeignLookup(rules: ForeignHostRules): LookupFunction {
  return createGuardedLookup(
    (host) => lookup(host, { all: true }),
    (host, addresses) => assertAddressesAllowed(host, addresses, rules),
  );
}

function assertAddressesAllowed(
  hostname: string,
  addresses: readonly string[],
  { baseUrl, trustedHosts }: ForeignHostRules,
): void {
  if (hostname === baseUrl.hostname || trustedHosts.has(stripBrackets(hostname))) return;
  if (addresses.every((address) => classifyAddress(parseAddress(address)) === 'public')) return;
  throw refuse(hostname, 'its address is not a public one');
}

function stripBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function refuse(host: string, reason: string): AccessDeniedError {
  return new AccessDeniedError(
    `the registry sends us to ${host}, which is not allowed: ${reason} (trustedHosts of the account lists hosts that may be anywhere)`,
  );
}
