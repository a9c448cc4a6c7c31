import { DescribeClusterCommand, EKSClient, EKSServiceException } from '@aws-sdk/client-eks';
import { type Clock, clockErrorMsMax } from '#core/clock.ts';
import { asJsonObject, asString } from '#core/json.ts';
import type { Aws, AwsIdentity } from '#platform/ports/aws.ts';
import { toAwsFailure } from '#platform/ports/aws-failure.ts';
import { ServiceBusyError } from '#platform/ports/lookup.ts';
import type { Found } from '#platform/ports/shared-lookups.ts';
import type { CallSharing, HostServices } from '#provider-kit/host-services.ts';
import { presignEksToken } from './eks-token.ts';

/** An EKS cluster, and the identity that reaches it. */
export interface EksCluster extends AwsIdentity {
  /** Its name in EKS, or for a local cluster on Outposts its id. */
  readonly name: string;
}

/** The endpoint of an EKS cluster's API server. */
export interface EksEndpoint {
  /** `https://…` */
  readonly server: string;
  /** PEM in base64. */
  readonly certificateAuthorityData: string;
  /** When EKS said so, wall time in milliseconds. */
  readonly asOfMs: number;
}

interface EksOptions extends Required<Pick<HostServices, 'openAws'>>, Pick<HostServices, 'openLookups'> {
  readonly clock: Pick<Clock, 'now'>;
}

/** Milliseconds for which a token is used: EKS accepts it for 15 minutes, by its own clock. */
const tokenLifetimeMs = 14 * 60_000;

/** What AWS knows of EKS clusters. */
export type EksService = ReturnType<typeof createEksService>;

/** EKS and its tokens. Each call throws an Error that says what AWS refused, to whom, and what to do. */
export function createEksService({ openAws, openLookups, clock }: EksOptions) {
  return {
    /** The cluster's endpoint, by EKS. @param doubted one that did not work: only a later one will do */
    async describeCluster(cluster: EksCluster, doubted?: EksEndpoint): Promise<EksEndpoint> {
      const [aws, sharing] = await Promise.all([openAws(), openLookups?.()]);
      const region = await aws.getRegion(cluster);
      const question = {
        key: ['EKS', region, toIdentity(cluster), cluster.name] as const,
        what: `the EKS cluster "${cluster.name}" in ${region}`,
        prepare: aws.credentials(cluster),
        ask: () => describeCluster({ ...cluster, region }, aws, sharing),
        doubted,
      };
      const alone = async (): Promise<Found> => ({ value: await question.ask(), asOfMs: clock.now() });
      return toEndpoint(await (sharing?.lookups.find(question) ?? alone()));
    },
    /**
     * Makes a bearer token, to be used until `expiresAtMs`, wall time, without a call to AWS unless a role must be assumed.
     *
     * @param refused whether the last token was refused
     */
    async presignToken(cluster: EksCluster, refused = false) {
      const aws = await openAws();
      const region = await aws.getRegion(cluster);
      const credentials = await aws.credentials(cluster)({ forceRefresh: refused });
      const atMs = clock.now();
      const token = await presignEksToken(aws, cluster.name, { region, credentials });
      // A token ends with the session that signed it, by AWS' clock.
      const sessionEndMs = credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      return { token, expiresAtMs: Math.min(atMs + tokenLifetimeMs, sessionEndMs - clockErrorMsMax) };
    },
  };
}

/** The identity that looks up a cluster: under the same name, others may see another cluster, or none. */
function toIdentity({ roleArn, profile }: EksCluster): string {
  return roleArn ?? (profile === undefined ? 'own' : `profile ${profile}`);
}

/** The cluster's endpoint as text. */
async function describeCluster(
  cluster: EksCluster & { region: string },
  aws: Aws,
  sharing: CallSharing | undefined,
): Promise<string> {
  const { name, region, roleArn } = cluster;
  const credentials = await aws.credentials(cluster)();
  // Processes decide together when to ask EKS again.
  const timeouts = { ...aws.clientOptions, ...(sharing && { maxAttempts: 1 }) };
  const client = new EKSClient({ ...timeouts, region, credentials });
  const what = `cannot look up the EKS cluster "${name}" in ${region}${roleArn === undefined ? '' : ` as ${roleArn}`}`;
  try {
    // EKS uses the quota of the AWS account of the role.
    await sharing?.pace.takeTurn('EKS', region, roleArn?.split(':')[4] ?? 'own');
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
