import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { retryWrite } from '../../apply/retry-write.ts';
import { annotationKeys, readAnnotations } from '../../manifest/annotations.ts';
import { readName } from '../../manifest/identity.ts';
import { getRef, resources, type ServerGroupName, type V1Kind } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';

/** An object to be created once, even with several tries. */
export interface Creation {
  readonly kind: V1Kind;
  readonly namespace: string;
  /** Its annotation `busdriver.io/creation` distinguishes it from another object of its name. */
  readonly manifest: Manifest;
}

/**
 * Creates an object. The annotation identifies one that an earlier try created.
 *
 * @returns `taken` if there is another object of that name, which stays as it is
 * @throws KubernetesApiError if the API server refuses
 */
export async function createOnce(
  { kind, namespace, manifest }: Creation,
  { client, session, run }: Pick<V1Work, 'client' | 'session' | 'run'>,
): Promise<'created' | 'taken'> {
  const { signal } = run;
  const resource = resources[kind];
  const ref = { resource, namespace, name: readName(manifest) };
  return retryWrite<Manifest | undefined, 'created' | 'taken'>({
    // Usually there is no object of that name, and the first try shows it as well as a read.
    look: async (retry) => (retry === 0 ? undefined : client.get(ref, { signal })),
    async write(live) {
      if (live !== undefined) return readCreation(live) === readCreation(manifest) ? 'created' : 'taken';
      await client.create(resource, manifest, { signal });
      return 'created';
    },
    isLostRace: (error) => error instanceof KubernetesApiError && error.reason === 'AlreadyExists',
    signal,
    clock: session.clock,
  });
}

/** The annotations of objects created by a choice of that name. */
export function createAnnotations(creation: string): Readonly<Record<string, string>> {
  return { [annotationKeys.creation]: creation };
}

function readCreation(object: Manifest): string | undefined {
  return readAnnotations(object)[annotationKeys.creation];
}

/** An object to create or replace as `build` makes it. */
interface Upsert extends ServerGroupName {
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
