import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { stringField } from '#settings/coerce.ts';
import { isSecretReference } from '#settings/secret-reference.ts';
import { assertNoOrigins, openServer, readServerUrl } from './download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from './download/account-settings.ts';
import {
  type Authorizer,
  assertCredentialsUsable,
  CredentialValues,
  readKeyFile,
} from './download/authorization.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import { parseObjectReference } from './object-reference.ts';

/** The additional fields of an account of Oracle's Object Storage. */
export const oracleAccountFields = {
  apiEndpoint: stringField(),
  namespace: stringField(),
  region: stringField(),
  tenancyId: stringField(),
  userId: stringField(),
  fingerprint: stringField(),
  sshPrivateKey: stringField(),
  sshPrivateKeyFilePath: stringField(),
  privateKeyPassphrase: stringField(),
};

type OracleSettings = ReturnType<typeof readSettings>;

/**
 * The accounts of `artifacts.oracle`: objects of Oracle's Object Storage. The reference is `oci://bucket/path`, with a version of the
 * object after a `#`. In addition to Clouddriver's keys there are `sshPrivateKey`, the PEM itself, for environments without files, and
 * `apiEndpoint`, for realms with other domains.
 */
export function openOracleSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts(
    { kind: 'oracle', types: ['oracle/object'], open: openOracleAccount },
    options,
  );
}

function openOracleAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const settings = readSettings(account);
  assertCredentialsUsable(settings, account.context, options.placement);
  const { apiEndpoint, namespace, region } = settings;
  const base = apiEndpoint
    ? readServerUrl(account, 'apiEndpoint')
    : new URL(`https://objectstorage.${assertWord(region, 'region', account)}.oraclecloud.com/`);
  const root = new URL(`n/${assertWord(namespace, 'namespace', account)}/b/`, base);
  const authorize = createOracleAuthorizer(settings, account, options);
  const server = openServer(base, authorize, { account, options });
  return {
    async fetch(artifact, signal) {
      const url = toObjectUrl(artifact, root);
      signal.throwIfAborted();
      return { body: await server.read(url, signal) };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function readSettings(account: ConfiguredAccount) {
  assertNoOrigins(account, 'region');
  return parseSettings(oracleAccountFields, account.settings, account.context);
}

/** @throws InvalidInputError if it is missing, or would lead to another host or path. */
function assertWord(value: string | undefined, key: string, { context }: ConfiguredAccount): string {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(value ?? '')) return value ?? '';
  throw new InvalidInputError(`${context}: ${key}: expected letters, digits, '-' and '_'`);
}

/** Signs each request; undefined for an account without a key, which reads public buckets. */
function createOracleAuthorizer(
  settings: OracleSettings,
  account: ConfiguredAccount,
  options: SourceOptions,
): Authorizer {
  const { context } = account;
  const { tenancyId, userId, fingerprint } = settings;
  const owner = [tenancyId, userId, fingerprint];
  const hasKey = Boolean(settings.sshPrivateKey || settings.sshPrivateKeyFilePath);
  if (!hasKey && !owner.some(Boolean)) return async () => undefined;
  if (!hasKey || !owner.every((part) => /^[\w.:-]{1,255}$/.test(part ?? ''))) {
    throw new InvalidInputError(
      `${context}: expected tenancyId, userId, fingerprint and one of sshPrivateKeyFilePath and sshPrivateKey, or none of them`,
    );
  }
  const readKey = openKey(settings, account, options);
  return async (url, isRefused = false) => {
    const key = await readKey(isRefused);
    return signRequest(url, { key, keyId: owner.join('/'), atMs: options.clock.now() });
  };
}

/** @throws InvalidInputError for a key that is already known, and cannot be used. */
function openKey(
  settings: OracleSettings,
  account: ConfiguredAccount,
  options: SourceOptions,
): (isRefused: boolean) => Promise<KeyObject> {
  const { context } = account;
  const { sshPrivateKey, sshPrivateKeyFilePath, privateKeyPassphrase: passphrase = '' } = settings;
  if (sshPrivateKey && sshPrivateKeyFilePath) {
    throw new InvalidInputError(`${context}: expected sshPrivateKeyFilePath or sshPrivateKey, not both`);
  }
  const pem = sshPrivateKey || readKeyFile(sshPrivateKeyFilePath ?? '', `${context}: sshPrivateKeyFilePath`);
  if (!isSecretReference(pem) && !isSecretReference(passphrase)) {
    const key = parseKey(pem, passphrase);
    if (key === undefined) throw new InvalidInputError(`${context}: ${keyExpected}`);
    return async () => key;
  }
  const values = new CredentialValues(account, options);
  return async (isRefused) => {
    if (isRefused) values.invalidate();
    const key = parseKey(
      await values.read('sshPrivateKey', pem),
      passphrase && (await values.read('privateKeyPassphrase', passphrase)),
    );
    if (key !== undefined) return key;
    throw new FailedOperationError(`${context}: ${keyExpected}`);
  };
}

const keyExpected = 'expected an RSA private key as PEM, and its privateKeyPassphrase where it has one';

/** Undefined for anything but an RSA key: the parser's own message might quote it. */
function parseKey(pem: string, passphrase: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: pem, ...(passphrase && { passphrase }) });
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The signer, and the time of the signature. */
interface Signer {
  readonly key: KeyObject;
  /** Tenancy, user and the key's fingerprint. */
  readonly keyId: string;
  /** Wall time. Oracle accepts a difference of five minutes. */
  readonly atMs: number;
}

/** Version 1 of Oracle's request signatures (https://docs.oracle.com/en-us/iaas/Content/API/Concepts/signingrequests.htm). */
function signRequest(url: URL, { key, keyId, atMs }: Signer) {
  const date = new Date(atMs).toUTCString();
  const signed = [
    `date: ${date}`,
    `(request-target): get ${url.pathname}${url.search}`,
    `host: ${url.host}`,
  ].join('\n');
  const signature = sign('sha256', Buffer.from(signed), key).toString('base64');
  return {
    date,
    authorization: `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="date (request-target) host",signature="${signature}"`,
  };
}

/**
 * The URL of an object.
 *
 * @param root root URL of the buckets in the account's namespace.
 * @throws InvalidInputError for a reference of another form.
 */
function toObjectUrl({ reference }: Artifact, root: URL): URL {
  const { bucket = '', object = '', version } = parseObjectReference(reference, 'oci:') ?? {};
  const isBucket = /^[\w.-]{1,256}$/.test(bucket) && !/^\.{1,2}$/.test(bucket);
  if (!isBucket || !/^[\w-]{1,255}$/.test(version ?? '0')) {
    throw new InvalidInputError(
      'Oracle references must be of the format oci://<bucket>/<file-path>[#version]',
    );
  }
  const url = new URL(`${bucket}/o/${encodeURIComponent(object)}`, root);
  if (version !== undefined) url.searchParams.set('versionId', version);
  return url;
}
