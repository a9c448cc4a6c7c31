import { isSecretReference } from '#settings/secret-reference.ts';
import { type ApiServer, parseServerUrl } from '../credentials/api-server.ts';
import type { AccountFields } from './account-fields.ts';

/** An account's setting `server`, as written. */
export type ServerFields = { readonly host: string } & Partial<NonNullable<AccountFields['server']>>;

/** An API server, and how its clients authenticate. Holds a secret if it has a token. */
export interface ServerAddress extends ApiServer {
  /** Name of the token provider that the broker is asked for. */
  readonly tokenProvider: string;
  /** Name of the broker in `busdriver.tokenBrokers`. */
  readonly tokenBroker: string;
  /** A token that replaces the broker's. */
  readonly bearerToken: string | undefined;
}

/** The token provider that go-clouddriver uses if an account names none. */
const defaultTokenProvider = 'google';

/** The broker where an account names none. */
export const defaultTokenBroker = 'arcade';

/** What is wrong with the setting, each a sentence that begins with the path of the field and shows no value. */
export function findServerViolations(server: ServerFields): readonly string[] {
  const violations: string[] = [];
  if (parseServerUrl(server.host) === undefined) {
    violations.push('server.host: expected an http or https URL without user, query and fragment');
  }
  const { caData = '' } = server;
  if (!isBase64(caData) && !isSecretReference(caData))
    violations.push('server.caData: expected PEM in base64');
  if (server.bearerToken && (server.tokenProvider || server.tokenBroker)) {
    violations.push('server.bearerToken: expected nothing beside tokenProvider and tokenBroker');
  }
  return violations;
}

/** The server that the setting names. */
export function toServerAddress(server: ServerFields): ServerAddress {
  const { host, caData, tokenProvider, tokenBroker, bearerToken } = server;
  return {
    host: host.trim(),
    caData: caData || undefined,
    tokenProvider: tokenProvider || defaultTokenProvider,
    tokenBroker: tokenBroker || defaultTokenBroker,
    bearerToken: bearerToken || undefined,
  };
}

/** As Go's decoder accepts it: padded; line breaks are ignored. */
function isBase64(text: string): boolean {
  const bare = text.replaceAll(/[\r\n]/g, '');
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare);
}
