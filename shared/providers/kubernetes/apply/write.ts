import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, getPath } from '#core/json.ts';
import type { CallOptions, KubernetesClient, WriteOptions } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { lastAppliedAnnotation, withLastApplied } from './last-applied.ts';
import { retryWrite } from './retry-write.ts';
import {
  type RetriedWriteOptions,
  resolveTarget,
  type WriteManifestOptions,
  type WriteTarget,
  withoutResourceVersion,
} from './target.ts';
import {
  readResourceVersion,
  readTrace,
  type SubmissionState,
  tookEffect,
  type WriteTrace,
} from './write-trace.ts';

const fieldValidation = 'Strict';

/**
 * Creates an object as `kubectl create` does. The manifest may have a `generateName` instead of a name. The last-applied annotation is
 * written only if the manifest has one, with the current content.
 *
 * @throws {InvalidInputError} if the manifest lacks apiVersion, kind or both names
 * @throws {KubernetesApiError} with the API server's words: 409 `AlreadyExists`, 422 …
 */
export async function createManifest(
  client: KubernetesClient,
  manifest: Manifest,
  options: WriteManifestOptions = {},
): Promise<Manifest> {
  const target = await resolveTarget(client, manifest, options);
  if (target.ref.name === '' && !getPath(manifest, 'metadata', 'generateName')) {
    throw new InvalidInputError('metadata: the manifest must have a name or a generateName');
  }
  return create(client, target, { signal: options.signal });
}

/** How to replace an object. */
export interface ReplaceOptions extends RetriedWriteOptions, SubmissionState {}

/**
 * Replaces a whole object, as `kubectl replace` does, and creates it if there is none. With a resourceVersion in the manifest it replaces
 * only that version; otherwise any.
 *
 * @throws {InvalidInputError} if the manifest lacks apiVersion, kind or name
 * @throws {KubernetesApiError} with the API server's words: 409 `Conflict`, 422 for fields that cannot change …
 */
export async function replaceManifest(
  client: KubernetesClient,
  manifest: Manifest,
  { signal, clock, ...options }: ReplaceOptions,
): Promise<Manifest> {
  const target = await resolveTarget(client, manifest, { signal, ...options });
  if (target.ref.name === '') throw new InvalidInputError('metadata.name: replace needs it');
  const ownVersion = readResourceVersion(target.manifest);
  const before = options.before ?? (await readBefore(client, target, { signal }));
  return retryWrite({
    async look(retry) {
      if (retry === 0 && !options.isRepeat) return { version: before.resourceVersion };
      const live = await client.get(target.ref, { signal });
      const version = readResourceVersion(live) ?? '';
      return live !== undefined && tookEffect(live, target.manifest, before)
        ? { version, written: live }
        : { version };
    },
    async write({ version, written }: { version: string; written?: Manifest }) {
      if (written !== undefined) return written;
      const replaced = ownVersion ?? version;
      if (replaced === '') return create(client, target, { signal });
      return putOrCreate(client, { ...target, version: replaced }, { signal });
    },
    isLostRace: (error) => isRaceLost(error, ownVersion),
    signal,
    clock,
  });
}

/** The result that a replace of the given version would have; nothing is stored. */
export async function tryReplace(
  client: KubernetesClient,
  target: WriteTarget,
  { version, signal }: CallOptions & { readonly version: string },
): Promise<Manifest> {
  return put(client, { ...target, version }, { signal, dryRun: true });
}

/** The object before a replace; not needed if the manifest names its version. */
async function readBefore(
  client: KubernetesClient,
  { ref, manifest }: WriteTarget,
  options: CallOptions,
): Promise<WriteTrace> {
  return readTrace(readResourceVersion(manifest) === undefined ? await client.get(ref, options) : undefined);
}

function isRaceLost(error: unknown, ownVersion: string | undefined): boolean {
  const reason = error instanceof KubernetesApiError ? error.reason : '';
  return reason === 'AlreadyExists' || (reason === 'Conflict' && ownVersion === undefined);
}

async function create(
  client: KubernetesClient,
  { ref, manifest }: WriteTarget,
  { signal }: CallOptions,
): Promise<Manifest> {
  const body = withoutResourceVersion(refreshLastApplied(manifest));
  return client.create(ref.resource, body, { fieldManager: 'kubectl-create', fieldValidation, signal });
}

interface PutTarget extends WriteTarget {
  readonly version: string;
}

/** Creates it if it has disappeared since it was read. */
async function putOrCreate(
  client: KubernetesClient,
  target: PutTarget,
  options: CallOptions,
): Promise<Manifest> {
  try {
    return await put(client, target, options);
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.reason !== 'NotFound') throw error;
    return create(client, target, options);
  }
}

async function put(
  client: KubernetesClient,
  { ref, manifest, version }: PutTarget,
  { signal, dryRun }: CallOptions & Pick<WriteOptions, 'dryRun'>,
): Promise<Manifest> {
  const refreshed = refreshLastApplied(manifest);
  const body = { ...refreshed, metadata: { ...asJsonObject(refreshed.metadata), resourceVersion: version } };
  const writer = { fieldManager: 'kubectl-replace', fieldValidation, looksFirst: true } as const;
  return client.replace(ref.resource, body, { ...writer, dryRun, signal });
}

/** Updates the last-applied annotation if the manifest has one that is not empty. */
function refreshLastApplied(manifest: Manifest): Manifest {
  return getPath(manifest, 'metadata', 'annotations', lastAppliedAnnotation)
    ? withLastApplied(manifest)
    : manifest;
}
