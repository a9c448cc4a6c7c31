import { encodeStrictly } from '#core/uri.ts';
import type { Aws, AwsAccess } from '#platform/ports/aws.ts';

/** Parameters of the query in the order of botocore, and so of `aws eks get-token`. */
const queryOrder = [
  'Action',
  'Version',
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Security-Token',
  'X-Amz-Signature',
];

/**
 * The bearer token by which EKS identifies an IAM identity: a presigned GetCallerIdentity of STS, which EKS' own webhook sends. It equals
 * the token that `aws eks get-token` prints, byte for byte. Nothing is sent.
 */
export async function presignEksToken(aws: Aws, clusterName: string, access: AwsAccess): Promise<string> {
  // EKS accepts only STS' regional names, whatever settings (VPC, FIPS) say.
  const { host } = new URL(aws.getEndpoint('sts', access.region, { isPublic: true }));
  const url = new URL(`https://${host}/?Action=GetCallerIdentity&Version=2011-06-15`);
  // EKS learns by this header for which cluster the request was signed.
  const headers = { 'x-k8s-aws-id': clusterName };
  const request = { service: 'sts', method: 'GET', url, headers };
  // EKS accepts tokens for up to 15 minutes, whatever they state.
  const query = await aws.presign(request, access, 60);
  return `k8s-aws-v1.${Buffer.from(`https://${host}/?${formatQuery(query)}`).toString('base64url')}`;
}

function formatQuery(query: Readonly<Record<string, string>>): string {
  return queryOrder
    .filter((name) => name in query)
    .map((name) => `${name}=${encodeStrictly(query[name] ?? '')}`)
    .join('&');
}
