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

/** The tools for keeping pull secrets correct. */
export interface PullSecretTools {
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
