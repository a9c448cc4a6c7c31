import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { FailedOperationError, getErrorMessage, InvalidInputError } from '#core/errors.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { stringField } from '#settings/coerce.ts';
import type { RemoteText } from '#settings/remote-text.ts';
import {
  findReferenceProblems,
  isSecretReference,
  parseSecretReference,
} from '#settings/secret-reference.ts';
import { createSecretText } from '#settings/secret-text.ts';
import { hasPlaceholder } from '#settings/spring-placeholders.ts';
import type { ConfiguredAccount } from './account-settings.ts';
import { CredentialsRefusedError } from './credentials-refused.ts';
import type { ContentVersion, CredentialHeaders, DownloadAnswer, Downloader } from './downloader.ts';

/**
 * The credentials of an account; a file wins over the values that it replaces, a token over a user name. Each may be a reference to a
 * secret, for a file to its content.
 */
export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Path of a file that holds `username:password`. */
  readonly usernamePasswordFile?: string | undefined;
  readonly token?: string | undefined;
  /** Path of a file that holds the token. */
  readonly tokenFile?: string | undefined;
}

/** The keys of `Credentials` for a user name and password. */
export const basicCredentialFields = {
  username: stringField(),
  password: stringField(),
  usernamePasswordFile: stringField(),
};

/** The keys of `Credentials` for a token. */
export const tokenCredentialFields = { token: stringField(), tokenFile: stringField() };

/**
 * Makes the headers that authenticate at a URL. Undefined without credentials.
 *
 * @param isRefused whether the last headers were refused: then secrets are read again.
 * @throws FailedOperationError if the credentials are currently unavailable.
 */
export type Authorizer = (url: URL, isRefused?: boolean) => Promise<CredentialHeaders | undefined>;

/**
 * Downloads with the credentials for a URL, and once more if they are refused and have changed by now.
 *
 * @throws what the authorizer and the download throw.
 */
export async function withCredentials<T>(
  authorize: Authorizer,
  url: URL,
  download: (credentials: CredentialHeaders | undefined) => Promise<T>,
): Promise<T> {
  const credentials = await authorize(url);
  try {
    return await download(credentials);
  } catch (error) {
    if (!(error instanceof CredentialsRefusedError) || credentials === undefined) throw error;
    const newer = await authorize(url, true);
    if (isDeepStrictEqual(newer, credentials)) throw error;
    return download(newer);
  }
}

/** Reads URLs with the headers of an authorizer. Disposing of it cuts its connections. */
export interface AuthorizedReader extends AsyncDisposable {
  /** Reads a URL. @throws what the authorizer and `Downloader.download` throw. */
  read(url: URL, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Like `read`, but also returns headers. @param known what is already known of the content */
  open(url: URL, known: ContentVersion | undefined, signal: AbortSignal): Promise<DownloadAnswer>;
}

/** Reads by a downloader, with an authorizer's headers. */
export function createAuthorizedReader(downloader: Downloader, authorize: Authorizer): AuthorizedReader {
  const open: AuthorizedReader['open'] = (url, known, signal) =>
    withCredentials(authorize, url, (credentials) => downloader.open({ url, credentials, known }, signal));
  return {
    open,
    read: async (url, signal) => (await open(url, undefined, signal)).body,
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/** Whether the credentials suffice to authenticate: a user name alone does not. */
export function canAuthenticate(credentials: Credentials): boolean {
  const { username, password, usernamePasswordFile, token, tokenFile } = credentials;
  return Boolean(tokenFile || token || usernamePasswordFile || (username && password));
}

/** The account of credentials. */
type CredentialOwner = Pick<ConfiguredAccount, 'name' | 'context'>;

/** How secrets are read. */
type SecretParts = Pick<ProviderContext, 'services' | 'clock' | 'log'>;

/** How fixed credentials are sent, and how secrets among them are read. */
export interface AuthorizerOptions extends SecretParts {
  /** The headers with a token. Default: `Authorization: token …`, as for GitHub. */
  readonly toTokenHeaders?: ((token: string) => CredentialHeaders) | undefined;
}

/**
 * An authorizer for fixed credentials, by the `Authorization` header unless the options say otherwise. Files are read each time: they may
 * be rotated. References to secrets are resolved.
 */
export function createAuthorizer(
  credentials: Credentials,
  owner: CredentialOwner,
  options: AuthorizerOptions,
): Authorizer {
  const { username, password, usernamePasswordFile, token, tokenFile } = credentials;
  const { toTokenHeaders = (value) => toHeader(`token ${value}`) } = options;
  const values = new CredentialValues(owner, options);
  return async (_, isRefused = false) => {
    if (isRefused) values.invalidate();
    if (tokenFile) return toTokenHeaders(await values.read('tokenFile', tokenFile));
    if (token) return toTokenHeaders(await values.read('token', token));
    if (usernamePasswordFile) return toBasic(await values.read('usernamePasswordFile', usernamePasswordFile));
    if (!username || !password) return undefined;
    const pair = [await values.read('username', username), await values.read('password', password)];
    return toBasic(pair.join(':'));
  };
}

/** The sources of credentials: values, files, and secrets, which are remembered. */
export class CredentialValues {
  readonly #owner: CredentialOwner;
  readonly #parts: SecretParts;
  readonly #secrets = new Map<string, RemoteText>();

  constructor(owner: CredentialOwner, parts: SecretParts) {
    this.#owner = owner;
    this.#parts = parts;
  }

  /**
   * The text for a key's value, without line breaks unless it is a private key; a key that ends in `File` holds a path.
   *
   * @throws FailedOperationError naming the key if it cannot be read.
   */
  async read(key: string, value: string): Promise<string> {
    const context = `${this.#owner.context}: ${key}`;
    if (isSecretReference(value)) return this.#readSecret(key, value, context);
    return key.endsWith('File') ? readCredentialFile(value, context) : value;
  }

  /** Has secrets read again before their next use. */
  invalidate(): void {
    for (const secret of this.#secrets.values()) secret.invalidate();
  }

  async #readSecret(key: string, reference: string, context: string): Promise<string> {
    const { services, clock, log } = this.#parts;
    const options = { account: this.#owner.name, secrets: services?.secrets, clock, log };
    const secret =
      this.#secrets.get(key) ?? createSecretText(parseSecretReference(reference, context), options);
    this.#secrets.set(key, secret);
    const text = await secret.getCurrent().catch((cause: unknown) => {
      throw new FailedOperationError(`${context}: ${getErrorMessage(cause)}`, { cause });
    });
    // A private key is PEM, in which line breaks matter.
    if (key.endsWith('PrivateKey')) return text;
    const value = text.replaceAll(/[\r\n]/g, '');
    if (!key.startsWith('token') || /^[\x21-\x7e]*$/.test(value)) return value;
    throw new FailedOperationError(
      `${context}: the secret has blanks or letters beyond ASCII, which no header can carry`,
    );
  }
}

/** Keys of credentials that may be references to secrets. */
const secretKeys: readonly string[] = [
  ...Object.keys({ ...basicCredentialFields, ...tokenCredentialFields }),
  'awsAccessKeyId',
  'awsSecretAccessKey',
  'json',
  'sshPrivateKey',
  'privateKeyPassphrase',
  'sshPrivateKeyPassphrase',
];

/**
 * Refuses credentials that cannot work: an unresolved placeholder, a token that is invalid in a header, and, in deployed functions, a file
 * or a program.
 *
 * @param credentials values by their configured key.
 * @throws InvalidInputError naming the key.
 */
export function assertCredentialsUsable(
  credentials: Readonly<Record<string, unknown>>,
  context: string,
  placement: ProviderContext['placement'],
): void {
  for (const [key, value] of Object.entries(credentials)) {
    if (typeof value !== 'string' || value === '') continue;
    if (isSecretReference(value)) {
      assertReferenceUsable(key, value, { context, placement });
      continue;
    }
    if (hasPlaceholder(value))
      throw new InvalidInputError(`${context}: ${key}: its placeholder has no value`);
    if (key === 'token' && /[^\x21-\x7e]/.test(value)) {
      throw new InvalidInputError(
        `${context}: ${key}: expected no blanks, line breaks or letters beyond ASCII`,
      );
    }
    if (placement === 'deployed' && /(File|Path|Command)$/.test(key)) {
      const lack = key.endsWith('Command') ? 'run no programs' : 'read no files';
      throw new InvalidInputError(`${context}: ${key}: deployed functions ${lack}, give the value itself`);
    }
  }
}

/** The deployed functions that fetch artifacts may read only one secret, which contains their accounts. */
function assertReferenceUsable(
  key: string,
  reference: string,
  { context, placement }: { readonly context: string; readonly placement: ProviderContext['placement'] },
): void {
  if (!secretKeys.includes(key)) {
    throw new InvalidInputError(`${context}: ${key}: expected the value itself, no reference to a secret`);
  }
  const problems = findReferenceProblems(reference, `${context}: ${key}`);
  if (problems.length > 0) throw new InvalidInputError(problems);
  if (placement === 'deployed') {
    throw new InvalidInputError(
      `${context}: ${key}: deployed, artifact accounts stand in a secret of their own: give the value itself`,
    );
  }
}

/** The content of an account's key file, which is read with its settings. @throws InvalidInputError, with the prefix `context` */
export function readKeyFile(path: string, context: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InvalidInputError(`${context}: the file cannot be read`, { cause });
  }
}

/** The content of a file without line breaks, as in Clouddriver. */
async function readCredentialFile(path: string, context: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replaceAll(/[\r\n]/g, '');
  } catch (cause) {
    throw new FailedOperationError(`${context}: the file cannot be read`, { cause });
  }
}

function toBasic(usernamePassword: string): CredentialHeaders {
  return toHeader(`Basic ${Buffer.from(usernamePassword, 'utf8').toString('base64')}`);
}

function toHeader(authorization: string): CredentialHeaders {
  return { authorization };
}
