import { FailedOperationError, getErrorMessage, InvalidInputError } from '#core/errors.ts';
import { encodeStrictly } from '#core/uri.ts';
import type { Aws } from '#platform/ports/aws.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { stringField } from '#settings/coerce.ts';
import { startAccountDownloader } from './download/account-downloader.ts';
import { assertNoOrigins, parsePathPart, readServerUrl } from './download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from './download/account-settings.ts';
import { assertCredentialsUsable, CredentialValues } from './download/authorization.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import { objectReferenceLengthMax } from './object-reference.ts';
import { getS3Endpoint, isAmazon, signS3Get } from './s3-requests.ts';

/** The additional fields of an S3 account. */
export const s3AccountFields = {
  apiEndpoint: stringField(),
  apiRegion: stringField(),
  region: stringField(),
  awsAccessKeyId: stringField(),
  awsSecretAccessKey: stringField(),
  roleArn: stringField(),
  externalId: stringField(),
  signerOverride: stringField(),
};

/** Settings of Clouddriver's client below `artifacts.s3`, which have no effect: downloads have their own limits. */
export const s3ClientSettings = [
  'clientExecutionTimeout',
  'connectionMaxIdleMillis',
  'connectionTimeout',
  'connectionTTL',
  'logEndpoints',
  'maxConnections',
  'requestTimeout',
  'socketTimeout',
  'validateAfterInactivityMillis',
];

/**
 * The accounts of `artifacts.s3`: objects of Amazon S3, or of another server with its protocol (`apiEndpoint`). Requests are signed with
 * the account's key, or else with the process' credentials, and sent like those of other types: with the same guard, limits and redirects.
 * The bucket is in the path.
 */
export function openS3Sources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ kind: 's3', types: ['s3/object'], open: openS3Account }, options);
}

function openS3Account(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const client = readClient(account, options);
  const downloader = startAccountDownloader(account, options);
  return {
    async fetch(artifact, signal) {
      const path = toObjectPath(artifact);
      const { url: origin, region } = await client.getEndpoint();
      const url = new URL(origin + path);
      return {
        body: await downloader.download({ url, credentials: await client.sign(url, region) }, signal),
      };
    },
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/** Finds an account's S3, and signs requests to it: undefined if the server is not Amazon's and the account has no key. */
function readClient(account: ConfiguredAccount, options: SourceOptions) {
  const { context } = account;
  const { placement, services } = options;
  const settings = parseSettings(s3AccountFields, account.settings, context);
  assertUsable(account, settings);
  assertCredentialsUsable(settings, context, placement);
  const { awsAccessKeyId, awsSecretAccessKey, roleArn, externalId } = settings;
  const values = new CredentialValues(account, options);
  const endpoint = settings.apiEndpoint ? readServerUrl(account, 'apiEndpoint').origin : undefined;
  const region = settings.apiRegion || settings.region || undefined;

  async function getIdentity() {
    if (!awsAccessKeyId || !awsSecretAccessKey) {
      return { roleArn: roleArn || undefined, externalId: externalId || undefined };
    }
    const accessKeyId = await values.read('awsAccessKeyId', awsAccessKeyId);
    return {
      key: { accessKeyId, secretAccessKey: await values.read('awsSecretAccessKey', awsSecretAccessKey) },
    };
  }

  const openAws = async (): Promise<Aws> => {
    if (services?.openAws !== undefined) return services.openAws();
    throw new Error('this process has no way to sign requests to S3');
  };
  /** Adds the account to AWS' refusals. */
  const ask = <T>(answer: Promise<T>) =>
    answer.catch((cause: unknown) => {
      throw new FailedOperationError(`${context}: ${getErrorMessage(cause)}`, { cause });
    });

  const isOpen = !awsAccessKeyId && endpoint !== undefined && !isAmazon(endpoint);
  return {
    getEndpoint: () => ask(getS3Endpoint(openAws, { url: endpoint, region })),
    async sign(url: URL, signedRegion: string) {
      if (isOpen) return undefined;
      const identity = { region: signedRegion, ...(await getIdentity()) };
      return ask(openAws().then((aws) => signS3Get(aws, url, identity)));
    },
  };
}

function assertUsable(
  account: ConfiguredAccount,
  settings: { readonly [key in keyof typeof s3AccountFields]?: string | undefined },
): void {
  const { context } = account;
  assertNoOrigins(account, 'apiEndpoint');
  if (Boolean(settings.awsAccessKeyId) !== Boolean(settings.awsSecretAccessKey)) {
    throw new InvalidInputError(
      `${context}: expected both awsAccessKeyId and awsSecretAccessKey, or neither`,
    );
  }
  if (settings.awsAccessKeyId && settings.roleArn) {
    throw new InvalidInputError(`${context}: roleArn: not with awsAccessKeyId: the process assumes it`);
  }
  if (settings.apiEndpoint) {
    const { origin, pathname } = readServerUrl(account, 'apiEndpoint');
    if (pathname !== '/')
      throw new InvalidInputError(`${context}: apiEndpoint: expected a URL without a path`);
    if (settings.roleArn && !isAmazon(origin)) {
      throw new InvalidInputError(`${context}: roleArn: not with an apiEndpoint that is not Amazon's`);
    }
  }
  const signer = settings.signerOverride ?? '';
  if (signer !== '' && signer !== 'AWSS3V4SignerType') {
    throw new InvalidInputError(
      `${context}: signerOverride: expected AWSS3V4SignerType: requests are signed by version 4 alone`,
    );
  }
}

/** The path of an object, encoded, and its version if the artifact names one. @throws InvalidInputError for a reference of another form. */
function toObjectPath({ reference = '', version }: Artifact): string {
  const [, bucket, key] =
    /^(?:s3:\/\/)?([^/]*)\/([\s\S]+)$/.exec(reference.slice(0, objectReferenceLengthMax)) ?? [];
  if (bucket === undefined || reference.length > objectReferenceLengthMax) {
    throw new InvalidInputError('S3 references must be of the format s3://<bucket>/<file-path>');
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket)) {
    throw new InvalidInputError('reference: expected the name of a bucket of S3, 3 to 63 characters');
  }
  // Question marks and the like are valid in a key; dots that lead out of the bucket are not.
  parsePathPart(key?.replaceAll(/[?#\\]/g, '-'), 'reference');
  const path = `/${bucket}/${key?.split('/').map(encodeStrictly).join('/')}`;
  return version ? `${path}?versionId=${encodeStrictly(version)}` : path;
}
