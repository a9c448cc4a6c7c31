import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { Aws, AwsCredentials, AwsIdentity } from '../../ports/aws.ts';
import { toAwsFailure } from '../../ports/aws-failure.ts';
import { presignRequest, signRequest } from './signature.ts';
import { findEndpoint, type SigningOptions, sendSignedJson } from './signed-call.ts';
import { silentLog } from './silent-log.ts';

interface Remembered {
  readonly credentials: Promise<AwsCredentials>;
  readonly askedAtMs: number;
  /** When to ask again, wall time in milliseconds; never while the answer is awaited. */
  freshUntilMs: number;
}

/** See `Aws.clientOptions`. */
export const clientOptions = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

/** Milliseconds after which the process's own credentials are looked up again, so that changed files and profiles are noticed. */
const ownLifetimeMs = 60_000;
/** Share of a session's life after which its role is assumed again. */
const renewalShare = 0.8;
/** Milliseconds for which refused credentials are still reused. */
const refusalPauseMs = 10_000;

/** AWS, as this process reaches it. */
export function createAws(options: SigningOptions): Aws {
  const { clock, environment } = options;
  const remembered = new Map<string, Remembered>();

  /** Requests credentials once for all that wait: STS allows few calls a second, and many accounts share a role. */
  function remember(identity: AwsIdentity, isRefused: boolean, load: () => Promise<AwsCredentials>) {
    const { profile, roleArn, sessionName, externalId, region } = identity;
    const key = JSON.stringify([profile, roleArn, sessionName, externalId, region]);
    const now = clock.now();
    const known = remembered.get(key);
    const isSuspect = isRefused && known !== undefined && now - known.askedAtMs > refusalPauseMs;
    if (known !== undefined && now < known.freshUntilMs && !isSuspect) return known.credentials;
    const credentials = load();
    const entry = { credentials, askedAtMs: now, freshUntilMs: Number.POSITIVE_INFINITY };
    remembered.set(key, entry);
    credentials.then(
      ({ expiration }) => {
        const sessionMs = (expiration?.getTime() ?? 0) - now;
        entry.freshUntilMs =
          roleArn === undefined ? clock.now() + ownLifetimeMs : now + renewalShare * sessionMs;
      },
      () => {
        if (remembered.get(key) === entry) remembered.delete(key);
      },
    );
    return credentials;
  }

  async function getCredentials(identity: AwsIdentity, isRefused: boolean): Promise<AwsCredentials> {
    const { profile, roleArn } = identity;
    const own = await remember({ profile }, isRefused, () => loadOwnCredentials(profile));
    if (roleArn === undefined) return own;
    const role = { ...identity, roleArn, region: await getRegion(identity) };
    return remember(role, isRefused, () => assumeRole(role, own));
  }

  return {
    clientOptions,
    credentials:
      (identity = {}) =>
      (given) =>
        getCredentials(identity, given?.forceRefresh ?? false),
    getRegion: (identity = {}) => getRegion(identity),
    getEndpoint: (service, region, { isPublic = false } = {}) =>
      findEndpoint(service, region, isPublic ? {} : environment),
    sign: (request, access) => signRequest(request, access, clock.now()),
    presign: (request, access, seconds) => presignRequest(request, access, { atMs: clock.now(), seconds }),
    call: (call, access) => sendSignedJson(call, access, options),
  };
}

async function getRegion({ region, profile }: AwsIdentity): Promise<string> {
  try {
    return await new STSClient(withProfile({ ...(region && { region }) }, profile)).config.region();
  } catch (error) {
    throw new Error('no AWS region is known: name it, or set AWS_REGION', { cause: error });
  }
}

/** Options of a client with a profile, if any: the SDK's types do not allow undefined for it. */
function withProfile<T extends object>(options: T, profile: string | undefined): T & { profile?: string } {
  return profile === undefined ? options : { ...options, profile };
}

async function loadOwnCredentials(profile: string | undefined): Promise<AwsCredentials> {
  try {
    return await defaultProvider(withProfile({ ignoreCache: true, logger: silentLog }, profile))();
  } catch (error) {
    const what = `no AWS credentials were found${profile === undefined ? '' : ` for the profile "${profile}"`}`;
    throw toAwsFailure(error, { what, whenDenied: '' });
  }
}

async function assumeRole(
  { roleArn, region, sessionName = 'busdriver', externalId }: AwsIdentity & { region: string },
  credentials: AwsCredentials,
): Promise<AwsCredentials> {
  const client = new STSClient({ ...clientOptions, region, credentials });
  try {
    const { Credentials: session } = await client.send(
      new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: sessionName, ExternalId: externalId }),
    );
    if (!session?.AccessKeyId || !session.SecretAccessKey) throw new Error('STS answered no credentials');
    return {
      accessKeyId: session.AccessKeyId,
      secretAccessKey: session.SecretAccessKey,
      ...(session.SessionToken && { sessionToken: session.SessionToken }),
      ...(session.Expiration && { expiration: session.Expiration }),
    };
  } catch (error) {
    const condition = externalId === undefined ? '' : ', with this external id';
    const whenDenied =
      "allow sts:AssumeRole on it in the policy of Busdriver's own role, and name that role in its trust policy" +
      condition;
    throw toAwsFailure(error, { what: `cannot assume the role ${roleArn}`, whenDenied });
  } finally {
    client.destroy();
  }
}
