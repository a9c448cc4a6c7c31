import type { ArtifactStoreSettings } from '#artifact-store/artifact-store-settings.ts';
import type { Aws, AwsCredentials, AwsIdentity } from '#platform/ports/aws.ts';

/** Who reads an object in S3: an account's own key, or else this process or a role. */
interface S3Signer extends Omit<AwsIdentity, 'profile'> {
  readonly region: string;
  readonly key?: AwsCredentials | undefined;
}

/** URL of S3, without a path, and its region, by default the one of the process. AWS is opened unless the URL of another server is given. */
export async function getS3Endpoint(
  openAws: () => Promise<Aws>,
  { url, ...given }: Pick<ArtifactStoreSettings, 'url' | 'region'>,
) {
  if (url !== undefined) return { url, region: given.region ?? 'us-east-1' };
  const aws = await openAws();
  const region = await aws.getRegion(given);
  return { region, url: new URL(aws.getEndpoint('s3', region)).origin };
}

/**
 * The headers that sign a GET of a URL, whose path must be percent-encoded as S3 requires, with a key or else as an identity.
 *
 * @throws Error that says which credentials are missing or refused.
 */
export async function signS3Get(aws: Aws, url: URL, { key, ...identity }: S3Signer): ReturnType<Aws['sign']> {
  const credentials = key ?? (await aws.credentials(identity)());
  return aws.sign({ service: 's3', method: 'GET', url }, { region: identity.region, credentials });
}

/** Whether a server is one of Amazon's: others must not learn anything of the process's credentials. */
export function isAmazon(origin: string): boolean {
  return /(?:^|\.)(?:amazonaws\.(?:com|com\.cn|eu)|api\.aws)$/.test(new URL(origin).hostname);
}
