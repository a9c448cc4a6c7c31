import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { Clock } from '#core/clock.ts';
import type { AwsCredentials, AwsIdentity } from '../../ports/aws.ts';
import { toAwsFailure } from '../../ports/aws-failure.ts';
import { silentLog } from './silent-log.ts';

interface Remembered {
  readonly credentials: Promise<AwsCredentials>;
  readonly askedAtMs: number;
  /** When to ask again, wall time in milliseconds; never while the answer is awaited. */
  freshUntilMs: number;
}

/** Options of clients for a single call: AWS answers at once, or something is wrong. */
export const clientOptions = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

const defaultSessionName = 'busdriver';

/** Milliseconds after which the process's own credentials are looked up again, so that changed files and profiles are noticed. */
const ownLifetimeMs = 60_000;
/** Share of a session's life after which its role is assumed again. */
const renewalShare = 0.8;
/** Milliseconds for which refused credentials are still reused. */
const refusalPauseMs = 10_000;

/** What to remember, and how long. */
interface Memorable {
  readonly load: () => Promise<AwsCredentials>;
  /** When to ask again, wall time in milliseconds. */
  readonly getFreshUntil: (credentials: AwsCredentials, askedAtMs: number) => number;
  readonly refused: boolean;
}

/** The credentials of identities, requested once for all that wait: STS allows few calls a second, and many accounts share a role. */
export class AwsIdentities {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #remembered = new Map<string, Remembered>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /**
   * The identity's credentials.
   *
   * @param refused true when they were refused elsewhere: then the remembered ones are not used.
   * @throws Error that says what AWS refused, to whom, and what to do.
   */
  async getCredentials(identity: AwsIdentity, refused = false): Promise<AwsCredentials> {
    const { profile, roleArn, sessionName, externalId } = identity;
    const own = await this.#remember(JSON.stringify([profile]), {
      load: () => loadOwnCredentials(profile),
      getFreshUntil: () => this.#clock.now() + ownLifetimeMs,
      refused,
    });
    if (roleArn === undefined) return own;
    const region = await getRegion(identity);
    return this.#remember(JSON.stringify([profile, roleArn, sessionName, externalId, region]), {
      load: () => assumeRole({ ...identity, roleArn, region }, own),
      getFreshUntil: ({ expiration }, askedAtMs) =>
        askedAtMs + renewalShare * ((expiration?.getTime() ?? 0) - askedAtMs),
      refused,
    });
  }

  #remember(key: string, { load, getFreshUntil, refused }: Memorable): Promise<AwsCredentials> {
    const now = this.#clock.now();
    const known = this.#remembered.get(key);
    const isSuspect = refused && known !== undefined && now - known.askedAtMs > refusalPauseMs;
    if (known !== undefined && now < known.freshUntilMs && !isSuspect) return known.credentials;
    const credentials = load();
    const entry = { credentials, askedAtMs: now, freshUntilMs: Number.POSITIVE_INFINITY };
    this.#remembered.set(key, entry);
    credentials.then(
      (loaded) => {
        entry.freshUntilMs = getFreshUntil(loaded, now);
      },
      () => {
        if (this.#remembered.get(key) === entry) this.#remembered.delete(key);
      },
    );
    return credentials;
  }
}

/** The region of an identity: its own, or that of the process or profile. @throws Error when none is known. */
export async function getRegion({ region, profile }: AwsIdentity): Promise<string> {
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
  { roleArn, region, sessionName = defaultSessionName, externalId }: AwsIdentity & { region: string },
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
