import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { jsonObjectField, stringField } from '#settings/coerce.ts';
import { isSecretReference } from '#settings/secret-reference.ts';
import { startAccountDownloader } from './download/account-downloader.ts';
import { assertNoOrigins, readServerUrl } from './download/account-server.ts';
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
  createAuthorizedReader,
  readKeyFile,
} from './download/authorization.ts';
import type { Downloader } from './download/downloader.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import {
  type GcsKey,
  gcsKeyExpected,
  gcsKeyStrays,
  isKeptAtHome,
  parseGcsKey,
  toFederatedKey,
} from './gcs-key.ts';
import type { MakeGcsHeader } from './gcs-tokens.ts';
import { parseObjectReference } from './object-reference.ts';

/** The additional fields of a Google Cloud Storage account. */
export const gcsAccountFields = {
  apiEndpoint: stringField(),
  json: stringField(),
  jsonPath: stringField(),
  workloadIdentity: jsonObjectField(),
};

/**
 * The accounts of `artifacts.gcs`: objects of Google Cloud Storage. The reference is `gs://bucket/path`, a generation of the object after a
 * `#`. Besides Clouddriver's `jsonPath` there are `json`, the key itself, and `workloadIdentity`, for environments without files or keys.
 */
export function openGcsSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ kind: 'gcs', types: ['gcs/object'], open: openGcsAccount }, options);
}

function openGcsAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  assertNoOrigins(account, 'apiEndpoint');
  const { apiEndpoint } = parseSettings(gcsAccountFields, account.settings, account.context);
  const base = apiEndpoint
    ? readServerUrl(account, 'apiEndpoint')
    : new URL('https://storage.googleapis.com/');
  const readKey = openKey(account, base, options);
  const downloader = startAccountDownloader(account, options);
  const authorize = createGcsAuthorizer(readKey, { account, options, downloader });
  const reader = createAuthorizedReader(downloader, authorize);
  return {
    async fetch(artifact, signal) {
      const url = toObjectUrl(artifact, base);
      signal.throwIfAborted();
      return { body: await reader.read(url, signal) };
    },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

/** Reads the key of an account: a new object if the key changed. Undefined if there is none. */
type ReadKey = (isRefused: boolean) => Promise<GcsKey | undefined>;

/** An account's context, and its means of calling other services. */
interface AccountParts {
  readonly account: ConfiguredAccount;
  readonly options: SourceOptions;
  readonly downloader: Downloader;
}

function createGcsAuthorizer(
  readKey: ReadKey,
  { account: { context }, options, downloader }: AccountParts,
): Authorizer {
  let loading: Promise<MakeGcsHeader> | undefined;
  const load = async () => {
    const { createGcsTokens } = await import('./gcs-tokens.ts');
    return createGcsTokens({ downloader, context, clock: options.clock, openAws: options.services?.openAws });
  };
  return async (_, isRefused = false) => {
    const key = await readKey(isRefused);
    if (key === undefined) return undefined;
    loading ??= load();
    return (await loading)(key, isRefused);
  };
}

/** @param base base URL of the account. @throws InvalidInputError for a key that is invalid or has foreign URLs, or for more than one. */
function openKey(account: ConfiguredAccount, base: URL, options: SourceOptions): ReadKey {
  const { context } = account;
  const settings = parseSettings(gcsAccountFields, account.settings, context);
  assertCredentialsUsable(settings, context, options.placement);
  const { json, jsonPath, workloadIdentity } = settings;
  if ([json, jsonPath, workloadIdentity].filter(Boolean).length > 1) {
    throw new InvalidInputError(`${context}: expected one of json, jsonPath and workloadIdentity`);
  }
  if (json && isSecretReference(json)) return followKey(json, { ...account, base }, options);
  const key = workloadIdentity
    ? readWorkloadIdentity(workloadIdentity, context)
    : readKeyText(
        json || (jsonPath && readKeyFile(jsonPath, `${context}: jsonPath`)),
        `${context}: ${json ? 'json' : 'jsonPath'}`,
      );
  if (key !== undefined && !isKeptAtHome(key, base)) {
    throw new InvalidInputError(`${context}: ${json ? 'json' : 'jsonPath'}: ${gcsKeyStrays}`);
  }
  return async () => key;
}

/** A key that is stored in a secret. */
function followKey(
  reference: string,
  { base, ...account }: ConfiguredAccount & { readonly base: URL },
  options: SourceOptions,
): ReadKey {
  const { context } = account;
  const values = new CredentialValues(account, options);
  let known: { readonly text: string; readonly key: GcsKey } | undefined;
  return async (isRefused) => {
    if (isRefused) values.invalidate();
    const text = await values.read('json', reference);
    if (known?.text === text) return known.key;
    const key = parseGcsKey(text);
    if (key === undefined) throw new FailedOperationError(`${context}: json: ${gcsKeyExpected}`);
    if (!isKeptAtHome(key, base)) throw new FailedOperationError(`${context}: json: ${gcsKeyStrays}`);
    known = { text, key };
    return key;
  };
}

function readKeyText(text: string | undefined, context: string): GcsKey | undefined {
  if (!text) return undefined;
  const key = parseGcsKey(text);
  if (key !== undefined) return key;
  throw new InvalidInputError(`${context}: ${gcsKeyExpected}`);
}

function readWorkloadIdentity(input: JsonObject, context: string): GcsKey {
  const fields = { audience: stringField(), serviceAccount: stringField() };
  const { audience, serviceAccount } = parseSettings(fields, input, `${context}: workloadIdentity`);
  const key = toFederatedKey(audience ?? '', serviceAccount);
  if (key !== undefined) return key;
  throw new InvalidInputError(
    `${context}: workloadIdentity: expected audience, //iam.googleapis.com/…/providers/… of AWS, and the e-mail address of a serviceAccount`,
  );
}

/** The URL of an object's content. @throws InvalidInputError for a reference of another form. */
function toObjectUrl({ reference }: Artifact, base: URL): URL {
  const { bucket = '', object = '', version } = parseObjectReference(reference, 'gs:') ?? {};
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket) || !/^\d{1,20}$/.test(version ?? '0')) {
    throw new InvalidInputError(
      'GCS references must be of the format gs://<bucket>/<file-path>[#generation]',
    );
  }
  const url = new URL(`storage/v1/b/${bucket}/o/${encodeURIComponent(object)}`, base);
  url.searchParams.set('alt', 'media');
  if (version !== undefined) url.searchParams.set('generation', version);
  return url;
}
