import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseBoundedJson } from '#core/bounded-json.ts';
import { FailedOperationError, getErrorMessage } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import type { RemoteText } from '#settings/remote-text.ts';
import { isSecretReference, parseSecretReference } from '#settings/secret-reference.ts';
import { createSecretText } from '#settings/secret-text.ts';
import { smallAnswerBytesMax } from './limits.ts';

const runProgram = promisify(execFile);

/** Milliseconds for a `passwordCommand`. */
const commandTimeoutMs = 30_000;

/** Credentials of an account; empty texts count as missing. */
export interface RegistryCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Path of a file with the password. */
  readonly passwordFile?: string | undefined;
  /** A shell command that prints the password. */
  readonly passwordCommand?: string | undefined;
  /** Path of a file of `docker login`. */
  readonly dockerconfigFile?: string | undefined;
}

/** The owner of credentials. */
export interface CredentialsOwner {
  /** Name of the account. */
  readonly name: string;
  /** Address of the registry without its scheme, as in references to images. */
  readonly registry: string;
  /** Address of the registry, with a slash at its end. */
  readonly baseUrl: URL;
  readonly credentials: RegistryCredentials;
}

/** User and password of an account. */
export interface BasicCredentials {
  /**
   * `user:password` in base64, for `Authorization: Basic`; undefined where the account has none. Files are read each time, as they may be
   * rotated; a program is run again, and secrets are read again, once their result was refused.
   *
   * @throws FailedOperationError naming the option, and never quoting its result.
   */
  get(): Promise<string | undefined>;
  /** The last credentials were refused. */
  invalidate(): void;
}

type CredentialParts = Pick<ProviderContext, 'clock' | 'log' | 'services' | 'environment'>;

/** The credentials of an account. Nothing is read before the first call. */
export function createCredentials(account: CredentialsOwner, parts: CredentialParts): BasicCredentials {
  const { username, password, passwordFile, passwordCommand, dockerconfigFile } = account.credentials;
  const secrets = new Map<string, RemoteText>();
  let commandAnswer: Promise<string> | undefined;

  const readValue = async (option: keyof RegistryCredentials, value: string): Promise<string> => {
    if (!isSecretReference(value)) return value;
    const reference = parseSecretReference(value, option);
    const { clock, log, services } = parts;
    const options = { account: account.name, secrets: services?.secrets, clock, log };
    const secret = secrets.get(option) ?? createSecretText(reference, options);
    secrets.set(option, secret);
    return stripLineEnds(await secret.getCurrent());
  };
  const findPassword = async (): Promise<string | undefined> => {
    if (password) return readValue('password', password);
    if (passwordFile) return stripLineEnds(await readFile(passwordFile, 'utf8'));
    if (!passwordCommand) return undefined;
    commandAnswer ??= runCommand(passwordCommand, parts);
    return commandAnswer;
  };
  return {
    async get() {
      try {
        if (dockerconfigFile) return findConfigured(await readFile(dockerconfigFile, 'utf8'), account);
        const secret = await findPassword();
        if (!username || !secret) return undefined;
        return toBase64(`${await readValue('username', username)}:${secret}`);
      } catch (cause) {
        throw new FailedOperationError(
          `the credentials of the account cannot be read: ${describeFailure(cause)}`,
          { cause },
        );
      }
    },
    invalidate() {
      for (const secret of secrets.values()) secret.invalidate();
      commandAnswer = undefined;
    },
  };
}

/** The password that a program prints. A shell runs it, as in Clouddriver. */
async function runCommand(command: string, { environment = {} }: CredentialParts): Promise<string> {
  const options = {
    env: { ...environment },
    timeout: commandTimeoutMs,
    maxBuffer: smallAnswerBytesMax,
  };
  return stripLineEnds((await runProgram('/bin/sh', ['-c', command], options)).stdout);
}

/** The credentials of the registry in a file of `docker login`. */
function findConfigured(text: string, { registry, baseUrl }: CredentialsOwner): string | undefined {
  const { value } = parseBoundedJson(text, { depthMax: 16, valuesMax: 10_000 });
  const keys = [
    registry,
    baseUrl.host,
    baseUrl.href.slice(0, -1),
    `${baseUrl.href}v1/`,
    `${baseUrl.href}v2/`,
  ];
  for (const key of keys) {
    const given = asString(getPath(value, 'auths', key, 'auth'));
    if (given) return given;
    const username = asString(getPath(value, 'auths', key, 'username'));
    const password = asString(getPath(value, 'auths', key, 'password'));
    if (username && password) return toBase64(`${username}:${password}`);
  }
  return undefined;
}

/** The message of a failed program holds its command, and a parser's may hold its input. */
function describeFailure(error: unknown): string {
  if (error instanceof SyntaxError) return 'dockerconfigFile is not JSON';
  if (error instanceof Error && 'cmd' in error) return 'passwordCommand failed';
  return getErrorMessage(error);
}

function stripLineEnds(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
