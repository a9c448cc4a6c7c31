import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { retryWrite } from '../../apply/retry-write.ts';
import { resources, type V1Kind } from './resources.ts';
import { getRef, type ServerGroupName } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';

/** An object that is to be there as `build` makes it. */
export interface Upsert extends ServerGroupName {
  readonly kind: V1Kind;
  /** Makes the object. @param live what is there of its name; undefined for nothing */
  build(live: Manifest | undefined): Manifest;
}

/**
 * Creates an object, or replaces the one that is there. What is written over is what was looked at: when somebody else was faster, it
 * looks again. A repeat leaves what the first try left.
 *
 * @throws KubernetesApiError as the API server refuses
 */
export async function upsertObject(
  { kind, namespace, name, build }: Upsert,
  { client, session, run }: Pick<V1Work, 'client' | 'session' | 'run'>,
): Promise<null> {
  const { signal } = run;
  const resource = resources[kind];
  const ref = getRef(kind, { namespace, name });
  await retryWrite<Manifest | undefined, Manifest>({
    look: () => client.get(ref, { signal }),
    write: (live) =>
      live === undefined
        ? client.create(resource, build(undefined), { signal })
        : client.replace(resource, build(live), { signal, looksFirst: true }),
    isLostRace: (error) =>
      error instanceof KubernetesApiError && /^(AlreadyExists|Conflict)$/.test(error.reason),
    signal,
    clock: session.clock,
  });
  return null;
}
