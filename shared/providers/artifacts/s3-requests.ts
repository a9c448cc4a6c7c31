import type { Aws, AwsCredentials, AwsIdentity } from '#platform/ports/aws.ts';

/** The identity that reads an object in S3. */
export interface S3Identity extends Pick<AwsIdentity, 'roleArn' | 'externalId'> {
  /** An account's own key, in place of the credentials of the process or of a role. */
  readonly key?: AwsCredentials | undefined;
}

/** The endpoint of S3, and the region for signatures of its requests. */
export interface S3Endpoint {
  /** Without a path. */
  readonly url: string;
  readonly region: string;
}

/** S3 in a region; by default in the one of the process. @throws Error when no region is known. */
export async function getS3Endpoint(aws: Aws, given: string | undefined): Promise<S3Endpoint> {
  const region = await aws.getRegion({ region: given });
  return { region, url: new URL(aws.getEndpoint('s3', region)).origin };
}

/**
 * The headers that sign a GET of a URL, whose path must be percent-encoded as S3 requires.
 *
 * @throws Error that says which credentials are missing or refused.
 */
export async function signS3Get(
  aws: Aws,
  url: URL,
  { key, ...identity }: S3Identity & { readonly region: string },
): ReturnType<Aws['sign']> {
  const credentials = key ?? (await aws.credentials(identity)());
  return aws.sign({ service: 's3', method: 'GET', url }, { region: identity.region, credentials });
}

/** Whether a server is one of Amazon's: others must not learn anything of the process's credentials. */
export function isAmazon(origin: string): boolean {
  return /(?:^|\.)(?:amazonaws\.(?:com|com\.cn|eu)|api\.aws)$/.test(new URL(origin).hostname);
}
