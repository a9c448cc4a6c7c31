import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { jsonObjectField, nameListField, stringListField } from '#settings/coerce.ts';
import { type ConfiguredAccount, parseSettings } from './account-settings.ts';
import type { Authorizer } from './authorization.ts';
import { formatHost } from './url-guard.ts';

/** Schemes, hosts and ports that an account's credentials may be sent to, as `URL.origin` writes them. */
export type CredentialOrigins = ReadonlySet<string>;

/**
 * Reads where an account's credentials may go: the origins of its `credentialOrigins`, else those of its type, and those hosts that
 * its own `urlRestrictions.allowedDomains` spells out (not as a pattern), over HTTPS at the port of HTTPS. It may be nowhere.
 *
 * Restrictions that count for all accounts name no origin: one account's token is nothing for the host of another.
 *
 * @param originsOfType where the type of artifact lives, unless the account says otherwise.
 * @throws InvalidInputError for an entry that is no origin.
 */
export function parseCredentialOrigins(
  { settings, context }: ConfiguredAccount,
  originsOfType: readonly string[],
): CredentialOrigins {
  const { credentialOrigins = originsOfType, urlRestrictions = {} } = parseSettings(
    { credentialOrigins: nameListField(), urlRestrictions: jsonObjectField() },
    settings,
    context,
  );
  const { allowedDomains = [] } = parseSettings(
    { allowedDomains: stringListField() },
    urlRestrictions,
    `${context}: urlRestrictions`,
  );
  return new Set([
    ...credentialOrigins.map((entry, index) => parseOrigin(entry, `${context}: credentialOrigins[${index}]`)),
    ...allowedDomains.flatMap(toLiteralHost).map((host) => new URL(`https://${host}`).origin),
  ]);
}

/** Where an authorizer may authenticate. */
export interface OriginLimit {
  readonly origins: CredentialOrigins;
  /** The account's key that names them. */
  readonly setting: string;
  /** What the credentials belong to; messages begin with it. */
  readonly context: string;
}

/**
 * An authorizer that refuses to authenticate anywhere but at the origins of the limit.
 *
 * @throws AccessDeniedError (from the authorizer) naming the account, the origin and the setting that would allow it. A URL
 *   that is not HTTP gets no credentials: it is refused by its scheme.
 */
export function limitToOrigins(
  authorize: Authorizer,
  { origins, setting, context }: OriginLimit,
): Authorizer {
  return async (url, isRefused) => {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
    if (origins.has(url.origin)) return authorize(url, isRefused);
    const origin = `${url.protocol}//${formatHost(url.host)}`;
    throw new AccessDeniedError(
      `${context}: its credentials may not go to ${origin}: that origin is not in ${setting}`,
    );
  };
}

/** `https://files.example.com:8443`; a slash may follow. Plain HTTP is the operator's choice, origin by origin. */
function parseOrigin(text: string, context: string): string {
  const url = URL.parse(text);
  // What else a URL may hold (user name, path, query) would stand in its full text. Browsers know hosts with asterisks.
  const bare = url !== null && url.href === `${url.origin}/` && !url.hostname.includes('*');
  if (bare && /^https?:$/.test(url.protocol)) return url.origin;
  throw new InvalidInputError(`${context}: expected an origin such as https://files.example.com:8443`);
}

/** The host that an entry of `allowedDomains` spells out, its dots escaped or not; nothing for a pattern. */
function toLiteralHost(entry: string): readonly string[] {
  const host = entry.replaceAll('\\.', '.').toLowerCase();
  const literal = /^[a-z0-9_.-]+$/.test(host) && /[a-z]$/.test(host) && URL.canParse(`https://${host}`);
  return literal ? [host] : [];
}
