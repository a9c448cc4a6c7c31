import { setTimeout as sleep } from 'node:timers/promises';
import { asJsonObject, asString, type JsonObject, omitNulls } from '../../../core/json.ts';
import type { CallOptions, KubernetesClient } from '../client/client.ts';
import { KubernetesApiError } from '../client/errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { hasLastApplied, lastAppliedAnnotation, parseLastApplied, withLastApplied } from './last-applied.ts';
import { findPatchType } from './patch-schema.ts';
import { hideValues } from './refusal.ts';
import { type ApplyResult, warnIfDeleting } from './result.ts';
import { type WriteTarget, withoutResourceVersion } from './target.ts';
import { createJsonMergePatch, createStrategicPatch } from './three-way-merge.ts';

/** kubectl's name as the owner of fields, and its wish that unknown fields be refused. */
const writer = { fieldManager: 'kubectl-client-side-apply', fieldValidation: 'Strict' } as const;
/** How often an object is read anew because somebody else changed it in between. */
const maxRetries = 5;
/** Wait before the second retry and later ones; the first follows at once. */
const retryDelayMs = 200;
const missingAnnotationWarning =
  `The live object has no annotation ${lastAppliedAnnotation}: it was added, and fields that an earlier manifest ` +
  'had and this one has not are kept';

/** Applies as `kubectl apply` does without `--server-side`. See `applyManifest`. */
export async function applyClientSide(
  client: KubernetesClient,
  target: WriteTarget,
  options: CallOptions,
): Promise<ApplyResult> {
  const modified = withLastApplied(target.manifest);
  for (let retry = 0; ; retry++) {
    const current = await client.get(target.ref, options);
    try {
      if (current === undefined) return await create(client, { ...target, manifest: modified }, options);
      return await update(client, { ...target, manifest: modified, current }, options);
    } catch (error) {
      if (retry === maxRetries || !isLostRace(error, current)) throw error;
    }
    if (retry > 0) await sleep(retryDelayMs, undefined, options.signal && { signal: options.signal });
  }
}

/** True when a write failed because of what somebody else did since the object was read. */
function isLostRace(error: unknown, current: Manifest | undefined): boolean {
  if (!(error instanceof KubernetesApiError)) return false;
  return current === undefined
    ? error.reason === 'AlreadyExists'
    : /^(Conflict|NotFound)$/.test(error.reason);
}

async function create(
  client: KubernetesClient,
  { ref, manifest }: WriteTarget,
  options: CallOptions,
): Promise<ApplyResult> {
  const body = asJsonObject(omitNulls(withoutResourceVersion(manifest))) ?? {};
  const object = await client.create(ref.resource, body, { ...writer, ...options });
  return { object, outcome: 'created', warnings: [] };
}

interface UpdateTarget extends WriteTarget {
  readonly current: Manifest;
}

async function update(
  client: KubernetesClient,
  { ref, manifest, current }: UpdateTarget,
  options: CallOptions,
): Promise<ApplyResult> {
  const warnings = hasLastApplied(current) ? [] : [missingAnnotationWarning];
  const patch = createPatch(manifest, current);
  if (Object.keys(patch.body).length === 0) {
    return { object: current, outcome: 'unchanged', warnings: [...warnings, ...warnIfDeleting(current)] };
  }
  const object = await client.patch(ref, { ...patch, ...writer }, options).catch((error: unknown) => {
    throw hideValues(error, ref);
  });
  return { object, outcome: 'configured', warnings: [...warnings, ...warnIfDeleting(object)] };
}

interface ThreeWayPatch {
  readonly type: 'strategic' | 'merge';
  readonly body: JsonObject;
}

function createPatch(modified: Manifest, current: Manifest): ThreeWayPatch {
  const versions = { original: parseLastApplied(current), modified, current };
  const type = findPatchType(asString(modified.apiVersion) ?? '', asString(modified.kind) ?? '');
  if (type === undefined) return { type: 'merge', body: createJsonMergePatch(versions) };
  return { type: 'strategic', body: createStrategicPatch(versions, type) };
}
