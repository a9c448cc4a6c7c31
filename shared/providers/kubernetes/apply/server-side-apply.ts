import { getErrorMessage } from '#core/errors.ts';
import { asJsonObject, getPath } from '#core/json.ts';
import type { CallOptions, KubernetesClient } from '../api/client.ts';
import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { lastAppliedAnnotation } from './last-applied.ts';
import { listAnnotationOwners, listEntries, moveManagedFields } from './managed-fields.ts';
import { hideValues } from './refusal.ts';
import { type ApplyResult, warnIfDeleting } from './result.ts';
import { retryWrite } from './retry-write.ts';
import type { ApplyOptions, WriteTarget } from './target.ts';
import { tookEffect } from './write-trace.ts';

/** kubectl's name as the owner of fields it applies server-side. */
const manager = 'kubectl';
/** kubectl's name as the owner of the annotation left by client-side applies. */
const annotationManager = 'kubectl-last-applied';
const fieldValidation = 'Strict';
/** etcd's first revision, which no object has: it is that of an empty store. */
const neverVersion = '1';
/** The most tries if another client changes the object in between. */
const maxTries = 5;

/**
 * Applies as `kubectl apply --server-side` does. See `applyManifest`. The outcome is always `configured`: the API server says no more.
 *
 * An object of earlier client-side applies is migrated, once: its annotation stays, owned by a separate manager, and the fields that those
 * applies own pass to this manager, so that they are removed when a manifest drops them. A failed migration is a warning, since the object
 * is applied; the next apply tries again.
 *
 * @param options whether a try took effect is noticed only if `before` is given
 */
export async function applyServerSide(
  client: KubernetesClient,
  target: WriteTarget,
  options: ApplyOptions,
): Promise<ApplyResult> {
  const { signal, clock, before, isRepeat } = options;
  const force = options.serverSide === 'force-conflicts';
  const patch = {
    type: 'apply',
    body: target.manifest,
    fieldManager: manager,
    force,
    fieldValidation,
  } as const;
  const apply = (looksFirst = false) => client.patch(target.ref, { ...patch, looksFirst }, { signal });
  const applied = await retryWrite({
    async look(retry) {
      if (before === undefined || (retry === 0 && !isRepeat)) return undefined;
      const live = await client.get(target.ref, { signal });
      return tookEffect(live, target.manifest, before) ? live : undefined;
    },
    write: async (written) => written ?? (await apply(true)),
    isLostRace: () => false,
    signal,
    clock,
  }).catch((error: unknown) => {
    throw hideValues(error, target.ref);
  });
  try {
    const migrated = await migrate(client, { ...target, object: applied }, { signal });
    // Applied again, so that the new owner removes fields that the manifest lacks.
    const object = migrated === undefined ? applied : await apply();
    return { object, outcome: 'configured', warnings: warnIfDeleting(object) };
  } catch (error) {
    if (!(error instanceof KubernetesApiError || error instanceof KubernetesConnectionError)) throw error;
    const warning = `Fields of earlier client-side applies could not be taken over: ${getErrorMessage(error)}`;
    return { object: applied, outcome: 'configured', warnings: [warning, ...warnIfDeleting(applied)] };
  }
}

/**
 * Creates as a server-side apply does. It names a version that no object has: the API server then answers a conflict if the object exists,
 * and ignores the version otherwise.
 *
 * @throws KubernetesApiError (409, `Conflict`) if there is an object of that name.
 */
export async function createServerSide(
  client: KubernetesClient,
  { ref, manifest }: WriteTarget,
  { signal }: CallOptions,
): Promise<ApplyResult> {
  const body = {
    ...manifest,
    metadata: { ...asJsonObject(manifest.metadata), resourceVersion: neverVersion },
  };
  const patch = { type: 'apply', body, fieldManager: manager, fieldValidation, looksFirst: true } as const;
  const object = await client.patch(ref, patch, { signal }).catch((error: unknown) => {
    throw hideValues(error, ref);
  });
  return { object, outcome: 'created', warnings: [] };
}

/**
 * The result that a server-side apply would have; nothing is stored. Undefined if no server-side apply made the object: fields of other
 * owners would stay in it unnoticed.
 */
export async function tryServerSide(
  client: KubernetesClient,
  { ref, manifest, live }: WriteTarget & { readonly live: Manifest },
  { signal }: CallOptions,
): Promise<Manifest | undefined> {
  const isApplied = listEntries(live).some(
    (entry) => entry.manager === manager && entry.operation === 'Apply',
  );
  if (!isApplied) return undefined;
  const patch = { type: 'apply', body: manifest, fieldManager: manager, force: true, dryRun: true } as const;
  return client.patch(ref, { ...patch, fieldValidation }, { signal });
}

interface AppliedTarget extends WriteTarget {
  readonly object: Manifest;
}

/** @returns the migrated object; undefined if there was nothing to migrate */
async function migrate(
  client: KubernetesClient,
  target: AppliedTarget,
  options: CallOptions,
): Promise<Manifest | undefined> {
  const object = await keepAnnotation(client, target, options);
  return moveFields(client, { ...target, object }, options);
}

/** Makes a separate manager own the last-applied annotation, so that this apply does not drop it. */
async function keepAnnotation(
  client: KubernetesClient,
  { ref, object }: AppliedTarget,
  options: CallOptions,
): Promise<Manifest> {
  const annotation = getPath(object, 'metadata', 'annotations', lastAppliedAnnotation);
  if (annotation === undefined || listAnnotationOwners(object, 'Apply').length > 0) return object;
  const { resource, name, namespace } = ref;
  const body = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name, ...(namespace && { namespace }), annotations: { [lastAppliedAnnotation]: annotation } },
  };
  return client.patch(
    ref,
    { type: 'apply', body, fieldManager: annotationManager, fieldValidation },
    options,
  );
}

async function moveFields(
  client: KubernetesClient,
  { ref, object }: AppliedTarget,
  options: CallOptions,
): Promise<Manifest | undefined> {
  const managers = listAnnotationOwners(object, 'Update');
  let current: Manifest | undefined = object;
  for (let tries = 1; ; tries++) {
    const managedFields = moveManagedFields(current, managers, manager);
    if (managedFields === undefined) return undefined;
    const version = getPath(current, 'metadata', 'resourceVersion');
    const body = [
      { op: 'replace', path: '/metadata/managedFields', value: managedFields },
      // Makes the API server answer a conflict if the object has changed since.
      { op: 'replace', path: '/metadata/resourceVersion', value: version },
    ];
    try {
      return await client.patch(ref, { type: 'json', body, fieldManager: manager, fieldValidation }, options);
    } catch (error) {
      const isConflict = error instanceof KubernetesApiError && error.reason === 'Conflict';
      if (!isConflict || tries === maxTries) throw error;
    }
    current = await client.get(ref, options);
    if (current === undefined) return undefined;
  }
}
