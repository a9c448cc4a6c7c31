import { InvalidInputError } from '../../../core/errors.ts';
import { asJsonObject, asString, getPath } from '../../../core/json.ts';
import type { CallOptions, KubernetesClient } from '../client/client.ts';
import { KubernetesApiError } from '../client/errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { lastAppliedAnnotation, withLastApplied } from './last-applied.ts';
import {
  resolveTarget,
  type WriteManifestOptions,
  type WriteTarget,
  withoutResourceVersion,
} from './target.ts';

const fieldValidation = 'Strict';
/** How often a replace reads the object anew because somebody else changed it in between. */
const maxRetries = 5;

/**
 * Creates an object as `kubectl create` does. The manifest may have a `generateName` instead of a name. An annotation
 * with the last applied configuration is written only when the manifest brings one, and then anew.
 *
 * @throws {InvalidInputError} when the manifest lacks apiVersion, kind or both names
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

/**
 * Replaces an object whole, as `kubectl replace` does, and creates it when there is none. With a resourceVersion in
 * the manifest it replaces that version only; without one, whichever is there.
 *
 * @throws {InvalidInputError} when the manifest lacks apiVersion, kind or name
 * @throws {KubernetesApiError} with the API server's words: 409 `Conflict`, 422 for fields that cannot change …
 */
export async function replaceManifest(
  client: KubernetesClient,
  manifest: Manifest,
  options: WriteManifestOptions = {},
): Promise<Manifest> {
  const target = await resolveTarget(client, manifest, options);
  if (target.ref.name === '') throw new InvalidInputError('metadata.name: replace needs it');
  const ownVersion = findResourceVersion(target.manifest);
  for (let retry = 0; ; retry++) {
    const version =
      ownVersion ?? findResourceVersion(await client.get(target.ref, { signal: options.signal }));
    if (version === undefined) return create(client, target, { signal: options.signal });
    try {
      return await put(client, { ...target, version }, { signal: options.signal });
    } catch (error) {
      const reason = error instanceof KubernetesApiError ? error.reason : '';
      if (reason === 'NotFound') return create(client, target, { signal: options.signal });
      if (reason !== 'Conflict' || ownVersion !== undefined || retry === maxRetries) throw error;
    }
  }
}

function findResourceVersion(object: Manifest | undefined): string | undefined {
  return asString(getPath(object, 'metadata', 'resourceVersion')) || undefined;
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

async function put(
  client: KubernetesClient,
  { ref, manifest, version }: PutTarget,
  { signal }: CallOptions,
): Promise<Manifest> {
  const refreshed = refreshLastApplied(manifest);
  const body = { ...refreshed, metadata: { ...asJsonObject(refreshed.metadata), resourceVersion: version } };
  return client.replace(ref.resource, body, { fieldManager: 'kubectl-replace', fieldValidation, signal });
}

/** Writes the last-applied annotation anew, provided that the manifest brings one that is not empty. */
function refreshLastApplied(manifest: Manifest): Manifest {
  return getPath(manifest, 'metadata', 'annotations', lastAppliedAnnotation)
    ? withLastApplied(manifest)
    : manifest;
}
