import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AccessDeniedError } from '#core/errors.ts';
import type { RegistryAccount } from './account.ts';

/** The well-known prefix of NAT64: an IPv4 address follows it. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** The hosts besides its own to which a registry may send us. */
type ForeignHostRules = Pick<RegistryAccount, 'trustedHosts'>;

/**
 * Refuses a URL from a registry unless it is clearly safe to call: `https`, or `http` if the registry itself uses that; without user and
 * password; with a name, or a public address.
 *
 * @throws AccessDeniedError naming the host, never more of the URL.
 */
export function assertForeignUrlAllowed(url: URL, registry: URL, { trustedHosts }: ForeignHostRules): void {
  const isPlainAllowed = registry.protocol === 'http:';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPlainAllowed)) {
    throw refuse(url.hostname, 'it is to be called without TLS');
  }
  if (url.username + url.password !== '') throw refuse(url.hostname, 'its URL holds a user name or password');
  const host = stripBrackets(url.hostname);
  if (isTrusted(host, trustedHosts) || host === stripBrackets(registry.hostname)) return;
  if (isIP(host) !== 0 && !isPublic(host)) throw refuse(url.hostname, 'its address is not a public one');
}

/**
 * Resolves names, and refuses those with an address that is not public. The checked addresses are the ones to which it connects.
 *
 * @param registryHost the registry's own host, which may have any address.
 */
export function createForeignLookup(
  registryHost: string,
  { trustedHosts }: ForeignHostRules,
): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const isFree = host === registryHost || isTrusted(host, trustedHosts);
      const isAllowed = isFree || (found ?? []).every(({ address }) => isPublic(address));
      const problem = error ?? (isAllowed ? null : refuse(host, 'its address is not a public one'));
      if (problem !== null) return callback(problem, '');
      if (options.all) return callback(null, found);
      callback(null, found[0]?.address ?? '', found[0]?.family);
    });
  };
}

function isTrusted(host: string, trustedHosts: ReadonlySet<string>): boolean {
  return trustedHosts.has(host.toLowerCase());
}

function isPublic(address: string): boolean {
  const [text = ''] = address.split('%', 1);
  const parsed = ipaddr.process(text);
  if (parsed instanceof ipaddr.IPv6 && parsed.match(nat64)) {
    return new ipaddr.IPv4(parsed.toByteArray().slice(12)).range() === 'unicast';
  }
  return parsed.range() === 'unicast' && !metadataServices.has(parsed.toString());
}

/** Metadata services that clouds keep at addresses that look public. */
const metadataServices: ReadonlySet<string> = new Set(['168.63.129.16', '100.100.100.200']);

function stripBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function refuse(host: string, reason: string): AccessDeniedError {
  return new AccessDeniedError(
    `the registry sends us to ${host}, which is not allowed: ${reason} (trustedHosts of the account lists hosts that may be anywhere)`,
  );
}
