import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { retryWrite } from '../../apply/retry-write.ts';
import { resources, type V1Kind } from './resources.ts';
import { getRef, type ServerGroupName } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';

/** An object to create or replace as `build` makes it. */
export interface Upsert extends ServerGroupName {
  readonly kind: V1Kind;
  /** Makes the object. @param live the existing object of its name; undefined if there is none */
  build(live: Manifest | undefined): Manifest;
}

/**
 * Creates an object, or replaces the existing one. It replaces only the version that it has read: if another client was faster, it reads
 * again. A repeat has the same result.
 *
 * @throws KubernetesApiError if the API server refuses
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
