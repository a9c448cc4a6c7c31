import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentialIdentity } from '@smithy/types';
import { findEndpoint } from './signed-call.ts';

/** What a token is made of. */
export interface EksTokenParts {
  /** The cluster's name, or its id on Outposts. */
  readonly clusterName: string;
  readonly region: string;
  readonly credentials: AwsCredentialIdentity;
  /** Wall time of the signature, milliseconds since the epoch. */
  readonly atMs: number;
}

/** The header by which EKS learns for which cluster a request was signed. */
const clusterHeader = 'x-k8s-aws-id';

/** The validity in the signature, seconds. EKS still accepts tokens for up to 15 minutes. */
const statedValiditySeconds = 60;

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
export async function presignEksToken(parts: EksTokenParts): Promise<string> {
  const { clusterName, region, credentials, atMs } = parts;
  // EKS accepts only STS' regional names, whatever settings (VPC, FIPS) say.
  const { hostname: host } = new URL(findEndpoint('sts', region, {}));
  const signer = new SignatureV4({ credentials, region, service: 'sts', sha256: Sha256 });
  const { query = {} } = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname: host,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host, [clusterHeader]: clusterName },
    },
    {
      signingDate: new Date(atMs),
      expiresIn: statedValiditySeconds,
      unhoistableHeaders: new Set([clusterHeader]),
    },
  );
  const url = `https://${host}/?${formatQuery(query)}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}

function formatQuery(query: { readonly [name: string]: string | readonly string[] | null }): string {
  return queryOrder
    .filter((name) => name in query)
    .map((name) => `${name}=${encodeStrictly(String(query[name]))}`)
    .join('&');
}

/** Encodes all but RFC 3986's unreserved characters. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}
