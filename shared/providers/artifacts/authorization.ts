import { readFile } from 'node:fs/promises';
import { FailedOperationError, InvalidInputError } from '../../core/errors.ts';
import type { ProviderOptions } from '../../core/providers/provider.ts';
import { stringField } from '../../core/settings/coerce.ts';
import { hasPlaceholder } from '../../core/settings/spring-placeholders.ts';

/** What an account may authenticate with; a file wins over the values it stands for, a token over a user name. */
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
 * Makes the `Authorization` header for a URL. Undefined when there is nothing to authenticate with.
 *
 * @throws FailedOperationError when the credentials cannot be had at the moment.
 */
export type Authorizer = (url: URL) => Promise<string | undefined>;

/** Whether the credentials suffice to authenticate: a user name alone does not. */
export function canAuthenticate(credentials: Credentials): boolean {
  const { username, password, usernamePasswordFile, token, tokenFile } = credentials;
  return Boolean(tokenFile || token || usernamePasswordFile || (username && password));
}

/** An authorizer for fixed credentials. Files are read each time: they may be rotated. */
export function createAuthorizer(credentials: Credentials, context: string): Authorizer {
  const { username, password, usernamePasswordFile, token, tokenFile } = credentials;
  return async () => {
    if (tokenFile) return `token ${await readSecret(tokenFile, `${context}: tokenFile`)}`;
    if (token) return `token ${token}`;
    if (usernamePasswordFile) {
      return toBasic(await readSecret(usernamePasswordFile, `${context}: usernamePasswordFile`));
    }
    return username && password ? toBasic(`${username}:${password}`) : undefined;
  };
}

/**
 * Refuses credentials that cannot work: a placeholder that nothing filled in, a token that no header can carry, and, in
 * deployed functions, a file.
 *
 * @param credentials values by the key they are configured with.
 * @throws InvalidInputError naming the key.
 */
export function assertCredentialsUsable(
  credentials: Readonly<Record<string, unknown>>,
  context: string,
  placement: ProviderOptions['placement'],
): void {
  for (const [key, value] of Object.entries(credentials)) {
    if (typeof value !== 'string' || value === '') continue;
    if (hasPlaceholder(value))
      throw new InvalidInputError(`${context}: ${key}: its placeholder has no value`);
    if (key === 'token' && /[^\x21-\x7e]/.test(value)) {
      throw new InvalidInputError(
        `${context}: ${key}: expected no blanks, line breaks or letters beyond ASCII`,
      );
    }
    if (placement === 'deployed' && /(File|Path)$/.test(key)) {
      throw new InvalidInputError(
        `${context}: ${key}: deployed functions read no files, give the value itself`,
      );
    }
  }
}

/** The content of a file without line breaks, as Clouddriver reads credentials. */
async function readSecret(path: string, context: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replaceAll(/[\r\n]/g, '');
  } catch (cause) {
    throw new FailedOperationError(`${context}: the file cannot be read`, { cause });
  }
}

function toBasic(usernamePassword: string): string {
  return `Basic ${Buffer.from(usernamePassword, 'utf8').toString('base64')}`;
}
