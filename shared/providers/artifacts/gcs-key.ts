import { createPrivateKey, type KeyObject } from 'node:crypto';
import { asJsonObject, asString, type JsonObject } from '#core/json.ts';
import { hasUserInfo } from './download/url-guard.ts';

/** The identity with which Google Cloud Storage is read. */
export type GcsKey = ServiceAccountKey | UserKey | FederatedKey;

/** The key of a service account, with which its tokens are signed. */
export interface ServiceAccountKey {
  readonly kind: 'serviceAccount';
  readonly email: string;
  readonly keyId: string | undefined;
  /** An RSA key. */
  readonly privateKey: KeyObject;
}

/** A user's consent, as `gcloud auth application-default login` writes it. */
export interface UserKey {
  readonly kind: 'user';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUrl: URL;
}

/** An identity of AWS that Google trusts: Workload Identity Federation. It holds no secret. */
export interface FederatedKey {
  readonly kind: 'federated';
  /** Full name of the provider in its pool: `//iam.googleapis.com/projects/…/providers/…`. */
  readonly audience: string;
  /** URL at which the identity is exchanged for a token. */
  readonly tokenUrl: URL;
  /** URL at which that is exchanged for a service account's token. Undefined to read with the first one. */
  readonly impersonationUrl: URL | undefined;
}

/** The expected form, for messages about an invalid key. */
export const gcsKeyExpected =
  'expected the JSON of a service account (client_email, private_key), an authorized user or an external account of AWS';

/**
 * Whether a key's requests for tokens stay with the issuer: its URLs lead to Google over TLS, or to the account's own server. Otherwise the
 * author of a key could have the identity of this process sent to a host of their own.
 *
 * @param base base URL of the account: a server named `storage.` shares its domain with the issuers of its tokens.
 */
export function isKeptAtHome(key: GcsKey, base: URL): boolean {
  const domain = /^storage(\..+)$/.exec(base.hostname)?.[1];
  const urls = [
    ...('tokenUrl' in key ? [key.tokenUrl] : []),
    ...('impersonationUrl' in key && key.impersonationUrl !== undefined ? [key.impersonationUrl] : []),
  ];
  return urls.every(({ origin, protocol, hostname }) => {
    const isGoogles =
      hostname.endsWith('.googleapis.com') || (domain !== undefined && hostname.endsWith(domain));
    return origin === base.origin || (protocol === 'https:' && isGoogles);
  });
}

/** The message for a key that fails this check. */
export const gcsKeyStrays =
  'its token_uri, token_url or service_account_impersonation_url is none of Google by https, and not at the apiEndpoint of the account';

const awsTokenType = 'urn:ietf:params:aws:token-type:aws4_request';

/**
 * Reads the JSON file by which Google's clients authenticate: of type `service_account`, `authorized_user`, or `external_account` with
 * AWS as its source.
 *
 * @returns undefined for anything else: the parser's own message would quote the key.
 */
export function parseGcsKey(text: string): GcsKey | undefined {
  try {
    const members = asJsonObject(JSON.parse(text)) ?? {};
    switch (members['type']) {
      case 'authorized_user':
        return parseUserKey(members);
      case 'external_account':
        return parseExternalAccount(members);
      default:
        return parseServiceAccountKey(members);
    }
  } catch {
    return undefined;
  }
}

/**
 * The identity of this process under Google's Workload Identity Federation.
 *
 * @param serviceAccount e-mail address of the account to impersonate. If undefined, the workload itself must have access.
 * @returns undefined for an audience that is not a pool's provider, and for an invalid e-mail address.
 */
export function toFederatedKey(
  audience: string,
  serviceAccount: string | undefined,
): FederatedKey | undefined {
  const url =
    serviceAccount &&
    `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`;
  if (serviceAccount && !/^[a-z0-9.-]+@[a-z0-9.-]+$/.test(serviceAccount)) return undefined;
  return parseExternalAccount({
    audience,
    subject_token_type: awsTokenType,
    ...(url && { service_account_impersonation_url: url }),
  });
}

function parseServiceAccountKey(members: JsonObject): ServiceAccountKey | undefined {
  const email = asString(members['client_email']);
  const privateKey = createPrivateKey(asString(members['private_key']) ?? '');
  if (!email || privateKey.asymmetricKeyType !== 'rsa') return undefined;
  return { kind: 'serviceAccount', email, keyId: asString(members['private_key_id']), privateKey };
}

function parseUserKey(members: JsonObject): UserKey | undefined {
  const clientId = asString(members['client_id']);
  const clientSecret = asString(members['client_secret']);
  const refreshToken = asString(members['refresh_token']);
  const tokenUrl = parseTokenUrl(members['token_uri'] ?? 'https://oauth2.googleapis.com/token');
  if (!clientId || !clientSecret || !refreshToken || !tokenUrl) return undefined;
  return { kind: 'user', clientId, clientSecret, refreshToken, tokenUrl };
}

function parseExternalAccount(members: JsonObject): FederatedKey | undefined {
  const audience = asString(members['audience']) ?? '';
  const tokenUrl = parseTokenUrl(members['token_url'] ?? 'https://sts.googleapis.com/v1/token');
  const impersonation = members['service_account_impersonation_url'];
  const impersonationUrl = impersonation === undefined ? undefined : parseTokenUrl(impersonation);
  const isWrong =
    members['subject_token_type'] !== awsTokenType ||
    !/^\/\/iam\.googleapis\.com\/[\x21-\x7e]{1,500}$/.test(audience) ||
    (impersonation !== undefined && impersonationUrl === undefined);
  return isWrong || !tokenUrl ? undefined : { kind: 'federated', audience, tokenUrl, impersonationUrl };
}

function parseTokenUrl(value: unknown): URL | undefined {
  const url = URL.parse(asString(value) ?? '');
  return url !== null && /^https?:$/.test(url.protocol) && !hasUserInfo(url) ? url : undefined;
}
