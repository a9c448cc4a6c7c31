import { InvalidInputError } from '#core/errors.ts';
import { getPath } from '#core/json.ts';
import type { KubernetesClient } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import type { ApplyResult } from './result.ts';
import { applyServerSide, createServerSide } from './server-side-apply.ts';
import { type ApplyOptions, resolveTarget, type WriteManifestOptions, type WriteTarget } from './target.ts';

/**
 * Creates or changes an object as `kubectl apply` would, including annotations and field owners. Client-side, that takes a call to read it,
 * and one more to create or change it if needed.
 *
 * @param manifest one object, not a List; its null members delete live ones
 * @throws {InvalidInputError} when the manifest lacks apiVersion, kind or name, or cannot be merged
 * @throws {KubernetesApiError} with the API server's words if it refuses: fields that cannot change or do not exist, conflicts with other
 *   owners, a missing namespace
 */
export async function applyManifest(
  client: KubernetesClient,
  manifest: Manifest,
  options: ApplyOptions,
): Promise<ApplyResult> {
  const target = await resolveNamed(client, manifest, options);
  const { serverSide = false } = options;
  if (serverSide === false) {
    // Loaded late: functions that only accept operations, and never apply, need not load its tables at their start.
    const { applyClientSide } = await import('./client-side-apply.ts');
    return applyClientSide(client, target, options);
  }
  return applyServerSide(client, target, options);
}

/**
 * Creates an object as `applyManifest` would, and never changes one: of several simultaneous calls, one succeeds.
 *
 * @throws {InvalidInputError} when the manifest lacks apiVersion, kind or name
 * @throws {KubernetesApiError} 409 if there is an object of that name, `AlreadyExists` or, server-side, `Conflict`; and like
 *   `applyManifest`
 */
export async function createApplied(
  client: KubernetesClient,
  manifest: Manifest,
  { serverSide = false, signal, ...options }: Pick<ApplyOptions, 'serverSide' | 'signal' | 'namespace'> = {},
): Promise<ApplyResult> {
  const target = await resolveNamed(client, manifest, { ...options, signal });
  if (serverSide !== false) return createServerSide(client, target, { signal });
  const { createClientSide } = await import('./client-side-apply.ts');
  return createClientSide(client, target, { signal });
}

async function resolveNamed(
  client: KubernetesClient,
  manifest: Manifest,
  options: WriteManifestOptions,
): Promise<WriteTarget> {
  const target = await resolveTarget(client, manifest, options);
  if (target.ref.name !== '') return target;
  const advice = getPath(manifest, 'metadata', 'generateName') ? '; generateName works with create only' : '';
  throw new InvalidInputError(`metadata.name: apply needs it${advice}`);
}
