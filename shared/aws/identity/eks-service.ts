import { DescribeClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import type { Clock } from '../../core/clock.ts';
import type { EksCluster, EksEndpoint, EksService } from '../../core/eks.ts';
import { toAwsFailure } from '../aws-failure.ts';
import { type AwsIdentities, clientOptions, getRegion } from './aws-identity.ts';
import { presignEksToken } from './eks-token.ts';

/** What the service works with. */
export interface EksServiceOptions {
  readonly identities: AwsIdentities;
  readonly clock: Pick<Clock, 'now'>;
}

/** A token is used for so long: EKS takes it for 15 minutes, by its own clock. */
const tokenLifetimeMs = 14 * 60_000;

/** EKS, and the tokens that it takes, by way of the AWS SDK. */
export function createEksService({ identities, clock }: EksServiceOptions): EksService {
  return {
    describeCluster: (cluster) => describeCluster(cluster, identities),
    async presignToken(cluster, { refused } = {}) {
      const region = await getRegion(cluster);
      const credentials = await identities.getCredentials(cluster, refused);
      const atMs = clock.now();
      const token = await presignEksToken({ clusterName: cluster.name, region, credentials, atMs });
      // A token dies with the session that signed it.
      const sessionEndMs = credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      return { token, expiresAtMs: Math.min(atMs + tokenLifetimeMs, sessionEndMs) };
    },
  };
}

async function describeCluster(cluster: EksCluster, identities: AwsIdentities): Promise<EksEndpoint> {
  const region = await getRegion(cluster);
  const credentials = await identities.getCredentials(cluster);
  const client = new EKSClient({ ...clientOptions, region, credentials });
  const as = cluster.roleArn === undefined ? '' : ` as ${cluster.roleArn}`;
  try {
    const { cluster: found } = await client.send(new DescribeClusterCommand({ name: cluster.name }));
    const { endpoint, certificateAuthority, status } = found ?? {};
    if (endpoint && certificateAuthority?.data) {
      return { server: endpoint, certificateAuthorityData: certificateAuthority.data };
    }
    throw new Error(`it has no endpoint yet (${status ?? 'no status'})`);
  } catch (error) {
    throw toAwsFailure(error, {
      what: `cannot look up the EKS cluster "${cluster.name}" in ${region}${as}`,
      whenDenied: 'allow eks:DescribeCluster on it to this identity',
      whenMissing: 'check its name, its region, and the AWS account of the identity',
    });
  } finally {
    client.destroy();
  }
}
