import { DescribeClusterCommand, EKSClient, EKSServiceException } from '@aws-sdk/client-eks';
import type { Clock } from '#core/clock.ts';
import { asJsonObject, asString } from '#core/json.ts';
import type { EksCluster, EksEndpoint, EksService } from '../../ports/eks.ts';
import { type CallTurns, ServiceBusyError } from '../../ports/lookup.ts';
import type { Found, SharedLookups } from '../../ports/shared-lookups.ts';
import { toAwsFailure } from '../aws-failure.ts';
import { type AwsIdentities, clientOptions, getRegion } from './aws-identity.ts';
import { presignEksToken } from './eks-token.ts';

interface EksServiceOptions {
  readonly identities: AwsIdentities;
  readonly clock: Pick<Clock, 'now'>;
  /** Left out, each process asks EKS for itself. */
  readonly sharing?: EksSharing | undefined;
}

/** What processes share about EKS, which allows a few requests a second. */
export interface EksSharing {
  /** Endpoints of clusters: found by one process, and read by the others. */
  readonly lookups: SharedLookups;
  /** Limits how many requests a second find them. */
  readonly pace: CallTurns;
}

/** Milliseconds for which a token is used: EKS accepts it for 15 minutes, by its own clock. */
const tokenLifetimeMs = 14 * 60_000;

/** EKS and its tokens, through the AWS SDK. */
export function createEksService(options: EksServiceOptions): EksService {
  const { identities, clock } = options;
  return {
    async describeCluster(cluster, { doubted } = {}) {
      const region = await getRegion(cluster);
      const question = {
        key: ['EKS', region, toIdentity(cluster), cluster.name] as const,
        what: `the EKS cluster "${cluster.name}" in ${region}`,
        prepare: () => identities.getCredentials(cluster),
        ask: () => describeCluster({ ...cluster, region }, options),
        doubted,
      };
      const alone = async (): Promise<Found> => ({ value: await question.ask(), asOfMs: clock.now() });
      return toEndpoint(await (options.sharing?.lookups.find(question) ?? alone()));
    },
    async presignToken(cluster, { refused } = {}) {
      const region = await getRegion(cluster);
      const credentials = await identities.getCredentials(cluster, refused);
      const atMs = clock.now();
      const token = await presignEksToken({ clusterName: cluster.name, region, credentials, atMs });
      // A token ends with the session that signed it.
      const sessionEndMs = credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      return { token, expiresAtMs: Math.min(atMs + tokenLifetimeMs, sessionEndMs) };
    },
  };
}

/** The identity that looks up a cluster: under the same name, others may see another cluster, or none. */
function toIdentity({ roleArn, profile }: EksCluster): string {
  return roleArn ?? (profile === undefined ? 'own' : `profile ${profile}`);
}

/** The AWS account of a role, whose quota EKS uses; `own` for that of this process. */
function getAwsAccount(roleArn: string | undefined): string {
  return roleArn?.split(':')[4] ?? 'own';
}

/** The cluster's endpoint as text. */
async function describeCluster(
  cluster: EksCluster & { region: string },
  { identities, sharing }: EksServiceOptions,
): Promise<string> {
  const { name, region, roleArn } = cluster;
  const credentials = await identities.getCredentials(cluster);
  // Processes decide together when to ask EKS again.
  const timeouts = { ...clientOptions, ...(sharing && { maxAttempts: 1 }) };
  const client = new EKSClient({ ...timeouts, region, credentials });
  const what = `cannot look up the EKS cluster "${name}" in ${region}${roleArn === undefined ? '' : ` as ${roleArn}`}`;
  try {
    await sharing?.pace.takeTurn('EKS', region, getAwsAccount(roleArn));
    const { cluster: found } = await client.send(new DescribeClusterCommand({ name }));
    const { endpoint: server, certificateAuthority, status } = found ?? {};
    const { data: certificateAuthorityData } = certificateAuthority ?? {};
    if (server && certificateAuthorityData) return JSON.stringify({ server, certificateAuthorityData });
    throw new Error(`it has no endpoint yet (${status ?? 'no status'})`);
  } catch (error) {
    throw toFailure(error, what);
  } finally {
    client.destroy();
  }
}

function toFailure(error: unknown, what: string): Error {
  if (error instanceof ServiceBusyError) return new ServiceBusyError(`${what}: ${error.message}`);
  const failure = toAwsFailure(error, {
    what,
    whenDenied: 'allow eks:DescribeCluster on it to this identity',
    whenMissing: 'check its name, its region, and the AWS account of the identity',
  });
  return isBusy(error) ? new ServiceBusyError(failure.message, { cause: error }) : failure;
}

/** Whether EKS may answer the same request later. Its throttling error is `TooManyRequestsException`. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!(error instanceof EKSServiceException)) {
    return error.name === 'TimeoutError' || ('code' in error && error.code === 'ETIMEDOUT');
  }
  const { httpStatusCode: status = 0 } = error.$metadata;
  return status === 429 || status >= 500 || /throttl|too ?many|limit ?exceeded/i.test(error.name);
}

function toEndpoint({ value, asOfMs }: Found): EksEndpoint {
  const { server, certificateAuthorityData } = asJsonObject(JSON.parse(value)) ?? {};
  return {
    server: asString(server) ?? '',
    certificateAuthorityData: asString(certificateAuthorityData) ?? '',
    asOfMs,
  };
}
