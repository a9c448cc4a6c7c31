import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { IpBlock } from '#provider-kit/http-client/address-class.ts';
import { booleanField, stringField, stringListField } from '#settings/coerce.ts';
import { parseSettings } from './account-settings.ts';

/**
 * Which URLs an artifact account may fetch: Spinnaker's `urlRestrictions`, with its names and defaults, and two of our own keys
 * (`rejectPrivateIps`, `allowedIps`).
 */
export interface UrlRestrictions {
  /** The whole host name must match. Undefined if the operator left it blank: then no name matches. */
  readonly allowedHostnames: RegExp | undefined;
  /** `http`, `https` or both; lower case. */
  readonly allowedSchemes: readonly string[];
  /** Unless empty, the whole host must match one of them. */
  readonly allowedDomains: readonly RegExp[];
  /** The same entries as text: a host with exactly this spelling passes `allowedHostnames` and `excludedHostnames`. */
  readonly allowedDomainNames: readonly string[];
  /** Host names that match one of these as a whole are refused. */
  readonly excludedHostnames: readonly RegExp[];
  /** Refuses loopback and unspecified addresses, and those of this machine's own interfaces. */
  readonly rejectLocalhost: boolean;
  /** Refuses link-local addresses and cloud metadata services. */
  readonly rejectLinkLocal: boolean;
  /** Refuses URLs with an IP address in place of a name. */
  readonly rejectVerbatimIps: boolean;
  /** Refuses private networks (RFC 1918, RFC 4193, RFC 6598). Spinnaker allows them. */
  readonly rejectPrivateIps: boolean;
  /** Refused even if other rules allow them. */
  readonly rejectedIps: readonly IpBlock[];
  /** Allowed even if another rule would refuse them, by name or as an address in the URL. */
  readonly allowedIps: readonly IpBlock[];
}

/** Excludes single-word names: inside a cluster they are its own services. */
const defaultAllowedHostnamesRegex = '.*\\..+';
const defaultExcludedDomains = ['spinnaker', 'local', 'localdomain', 'internal'];
/** `%s` is the excluded domain, which includes everything below it. */
const defaultExcludedDomainTemplate = '(?=.+\\.%s$).*\\..+';

const restrictionFields = {
  allowedHostnamesRegex: stringField(),
  allowedSchemes: stringListField(),
  allowedDomains: stringListField(),
  excludedDomainTemplate: stringField(),
  excludedDomains: stringListField(),
  excludedDomainsFromEnvironment: stringListField(),
  extraExcludedPatterns: stringListField(),
  rejectLocalhost: booleanField(),
  rejectLinkLocal: booleanField(),
  rejectVerbatimIps: booleanField(),
  rejectPrivateIps: booleanField(),
  rejectedIps: stringListField(),
  allowedIps: stringListField(),
};

/**
 * Reads an account's `urlRestrictions`.
 *
 * @param context the owner of the restrictions; messages begin with it.
 * @throws InvalidInputError naming the key: a wrong type, an invalid regular expression, an entry that is neither an IP address nor a CIDR
 *   block, a scheme other than http and https, or `excludedDomainsFromEnvironment` (functions do not read arbitrary environment variables).
 */
export function parseUrlRestrictions(input: JsonObject, context: string): UrlRestrictions {
  const settings = parseSettings(restrictionFields, input, context);
  if ((settings.excludedDomainsFromEnvironment ?? []).length > 0) {
    throw new InvalidInputError(
      `${context}: excludedDomainsFromEnvironment: not supported, list the domains in excludedDomains (a \${VARIABLE} is replaced there)`,
    );
  }
  const at = (key: string) => `${context}: ${key}`;
  const allowedDomains = settings.allowedDomains ?? [];
  const allowedHostnamesRegex = settings.allowedHostnamesRegex ?? defaultAllowedHostnamesRegex;
  return {
    allowedHostnames: allowedHostnamesRegex.trim()
      ? parsePattern(allowedHostnamesRegex, at('allowedHostnamesRegex'))
      : undefined,
    allowedSchemes: parseSchemes(settings.allowedSchemes ?? ['http', 'https'], at('allowedSchemes')),
    allowedDomains: allowedDomains.map((entry) => parsePattern(entry, at('allowedDomains'))),
    allowedDomainNames: allowedDomains.map((entry) => entry.toLowerCase()),
    excludedHostnames: [
      ...parseExcludedDomains(settings, at('excludedDomainTemplate')),
      ...(settings.extraExcludedPatterns ?? []).map((entry) =>
        parsePattern(entry, at('extraExcludedPatterns')),
      ),
    ],
    rejectLocalhost: settings.rejectLocalhost ?? true,
    rejectLinkLocal: settings.rejectLinkLocal ?? true,
    rejectVerbatimIps: settings.rejectVerbatimIps ?? true,
    rejectPrivateIps: settings.rejectPrivateIps ?? true,
    rejectedIps: (settings.rejectedIps ?? []).map((entry) => parseIpBlock(entry, at('rejectedIps'))),
    allowedIps: (settings.allowedIps ?? []).map((entry) => parseIpBlock(entry, at('allowedIps'))),
  };
}

/** The template once for each excluded domain, the domain taken literally. */
function parseExcludedDomains(
  settings: {
    readonly excludedDomains?: readonly string[] | undefined;
    readonly excludedDomainTemplate?: string | undefined;
  },
  context: string,
): readonly RegExp[] {
  const template = settings.excludedDomainTemplate ?? defaultExcludedDomainTemplate;
  return (settings.excludedDomains ?? defaultExcludedDomains).map((domain) =>
    parsePattern(
      template.replaceAll('%s', () => domain.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')),
      context,
    ),
  );
}

/**
 * A pattern that must match a whole host name or URL, ignoring case: names have no case, but patterns may.
 *
 * @throws InvalidInputError if it is not a regular expression.
 */
export function parsePattern(pattern: string, context: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern.replace(/^\(\?i\)/, '')})$`, 'i');
  } catch (cause) {
    throw new InvalidInputError(`${context}: expected a regular expression`, { cause });
  }
}

function parseSchemes(schemes: readonly string[], context: string): readonly string[] {
  const lowerCase = schemes.map((scheme) => scheme.toLowerCase());
  if (lowerCase.every((scheme) => scheme === 'http' || scheme === 'https')) return lowerCase;
  throw new InvalidInputError(`${context}: expected http, https or both`);
}

/** One address, or a block in CIDR notation. Only the full notations: `10.1` means different things to different parsers. */
function parseIpBlock(text: string, context: string): IpBlock {
  const [address = '', prefixLength, ...rest] = text.trim().split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  const length = prefixLength === undefined ? bits : Number(prefixLength);
  const valid = /^\d{1,3}$/.test(prefixLength ?? '0') && length <= bits && rest.length === 0;
  if (isIP(address) === 0 || address.includes('%') || !valid) {
    throw new InvalidInputError(`${context}: expected an IP address or a CIDR block such as 10.0.0.0/8`);
  }
  return [ipaddr.parse(address), length];
}
