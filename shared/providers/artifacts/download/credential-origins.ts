import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { jsonObjectField, nameListField, stringListField } from '#settings/coerce.ts';
import { type ConfiguredAccount, parseSettings } from './account-settings.ts';
import {
  type Authorizer,
  type AuthorizerOptions,
  type Credentials,
  canAuthenticate,
  createAuthorizer,
} from './authorization.ts';
import { formatHost } from './url-guard.ts';

/** Schemes, hosts and ports that an account's credentials may be sent to, as `URL.origin` writes them. */
type CredentialOrigins = ReadonlySet<string>;

/**
 * Reads where an account's credentials may go: the origins of its `credentialOrigins` (default: those of its type), and the hosts that its
 * own `urlRestrictions.allowedDomains` spells out (not as a pattern), over HTTPS at the HTTPS port. The result may be empty.
 *
 * Restrictions for all accounts add no origin: one account's token must not go to the host of another.
 *
 * @param originsOfType the origins of the type of artifact, unless the account says otherwise.
 * @throws InvalidInputError for an entry that is not an origin.
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

/** Where an account's fixed credentials go, and how. */
interface LimitedOptions extends AuthorizerOptions {
  /** The origins of the type of artifact, unless the account says otherwise. */
  readonly originsOfType: readonly string[];
  /** Whether the log says that an account's credentials may go nowhere. Default: no. */
  readonly warns?: boolean | undefined;
}

/**
 * An authorizer for fixed credentials, which go only to the account's origins: any user may name any host, which would then get them.
 *
 * @throws InvalidInputError for an entry of `credentialOrigins` that is not an origin, and, from the authorizer, AccessDeniedError.
 */
export function createLimitedAuthorizer(
  account: ConfiguredAccount,
  credentials: Credentials,
  options: LimitedOptions,
): Authorizer {
  const { name, context } = account;
  const origins = parseCredentialOrigins(account, options.originsOfType);
  const authorize = createAuthorizer(credentials, account, options);
  if (!canAuthenticate(credentials)) return authorize;
  if (options.warns && origins.size === 0) {
    options.log.warn(
      'An artifact account has credentials but no credentialOrigins: it refuses every download',
      {
        account: name,
      },
    );
  }
  return limitToOrigins(authorize, { origins, setting: 'credentialOrigins', context });
}

/** Where an authorizer may authenticate. */
interface OriginLimit {
  readonly origins: CredentialOrigins;
  /** The account's key that names them. */
  readonly setting: string;
  /** The owner of the credentials; messages begin with it. */
  readonly context: string;
}

/**
 * An authorizer that refuses to authenticate anywhere but at the origins of the limit.
 *
 * @throws AccessDeniedError (from the authorizer) naming the account, the origin and the setting that would allow it. A URL that is not
 *   HTTP gets no credentials: its scheme is refused elsewhere.
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

/** `https://files.example.com:8443`; a slash may follow. Plain HTTP is the operator's choice for each origin. */
function parseOrigin(text: string, context: string): string {
  const url = URL.parse(text);
  // Other parts of a URL (user name, path, query) would appear in its full text. URL parsers accept hosts with asterisks.
  const bare = url !== null && url.href === `${url.origin}/` && !url.hostname.includes('*');
  if (bare && /^https?:$/.test(url.protocol)) return url.origin;
  throw new InvalidInputError(`${context}: expected an origin such as https://files.example.com:8443`);
}

/** The host that an entry of `allowedDomains` spells out, with its dots escaped or not; nothing for a pattern. */
function toLiteralHost(entry: string): readonly string[] {
  const host = entry.replaceAll('\\.', '.').toLowerCase();
  const literal = /^[a-z0-9_.-]+$/.test(host) && /[a-z]$/.test(host) && URL.canParse(`https://${host}`);
  return literal ? [host] : [];
}
