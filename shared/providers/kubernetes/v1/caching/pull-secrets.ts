import { createHmac, randomBytes } from 'node:crypto';
import type { CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import { FailedOperationError } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import type { RegistryCredential } from '#provider-kit/registry-credentials.ts';
import { getBuiltInResource } from '../../api/built-in-resources.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { retryWrite } from '../../apply/retry-write.ts';

/** The intended content of a pull secret. It is itself secret: keep it from logs, errors and stores. */
export interface PullSecret {
  /** The name of the registry's account. */
  readonly name: string;
  /** The text of the key `.dockercfg`, in base64. */
  readonly dockercfg: string;
}

const resource = getBuiltInResource('v1', 'Secret');
const secretType = 'kubernetes.io/dockercfg';
const dataKey = '.dockercfg';

/** Identifies secrets of registries that an account does not name any more. They are never deleted: pods may need them. */
const labels = { 'app.kubernetes.io/managed-by': 'spinnaker' };

/** The pull secret of a registry's account. For a public registry it names no registry: pods pull without it. */
export function toPullSecret(name: string, credential: RegistryCredential): PullSecret {
  const { address, email, basicAuth: auth } = credential;
  const config = auth === undefined ? {} : { [address]: { auth, email } };
  return { name, dockercfg: Buffer.from(JSON.stringify(config)).toString('base64') };
}

interface PullSecretTools {
  readonly client: KubernetesClient;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly run: Pick<CachingRun, 'signal' | 'ensureHeld'>;
}

/**
 * Writes the pull secret of a namespace unless it is correct already.
 *
 * @returns whether it was written
 * @throws FailedOperationError if a Secret of another type has its name: that one stays as it is; KubernetesApiError if the API server
 *   refuses
 */
export async function keepPullSecret(
  secret: PullSecret,
  namespace: string,
  { client, clock, run }: PullSecretTools,
): Promise<boolean> {
  const { signal } = run;
  const { name, dockercfg } = secret;
  const ref = { resource, namespace, name };
  return retryWrite<Manifest | undefined, boolean>({
    look: () => client.get(ref, { signal }),
    async write(live) {
      if (live !== undefined && getPath(live, 'type') !== secretType)
        throw new FailedOperationError(`a Secret of that name is there, of another type than ${secretType}`);
      if (getPath(live, 'data', dataKey) === dockercfg) return false;
      run.ensureHeld();
      if (live === undefined) await client.create(resource, buildSecret(secret, namespace), { signal });
      else {
        const resourceVersion = asString(getPath(live, 'metadata', 'resourceVersion')) ?? '';
        const body = { metadata: { resourceVersion, labels }, data: { [dataKey]: dockercfg } };
        await client.patch(ref, { type: 'merge', body, looksFirst: true }, { signal });
      }
      return true;
    },
    isLostRace: (error) =>
      error instanceof KubernetesApiError && /^(AlreadyExists|Conflict)$/.test(error.reason),
    signal,
    clock,
  });
}

function buildSecret({ name, dockercfg }: PullSecret, namespace: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels },
    type: secretType,
    data: { [dataKey]: dockercfg },
  };
}

/** A correct pull secret is read again after this time, milliseconds: it may have been changed. */
export const pullSecretCheckMs = 600_000;

/**
 * What one process knows of an account's pull secrets: which were correct, and when. It holds no credentials, only hashes under a key that
 * exists only in the process.
 */
export class PullSecretMemory {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #key = randomBytes(32);
  /** By namespace and name. */
  readonly #kept = new Map<string, { readonly hash: string; readonly atMs: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether the secret of a namespace was recently found to hold this. */
  isKept(secret: PullSecret, namespace: string): boolean {
    const known = this.#kept.get(toKey(secret, namespace));
    if (known?.hash !== this.#hash(secret)) return false;
    return this.#clock.monotonic() - known.atMs < pullSecretCheckMs;
  }

  /** Notes that the secret of a namespace holds this. */
  note(secret: PullSecret, namespace: string): void {
    this.#kept.set(toKey(secret, namespace), { hash: this.#hash(secret), atMs: this.#clock.monotonic() });
  }

  /** Forgets the secrets of other namespaces than these. */
  keepOnly(namespaces: readonly string[]): void {
    const wanted = new Set(namespaces);
    for (const key of this.#kept.keys()) {
      if (!wanted.has(key.slice(0, key.indexOf('/')))) this.#kept.delete(key);
    }
  }

  #hash({ dockercfg }: PullSecret): string {
    return createHmac('sha256', this.#key).update(dockercfg).digest('base64url');
  }
}

function toKey({ name }: PullSecret, namespace: string): string {
  return `${namespace}/${name}`;
}
