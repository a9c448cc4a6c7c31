import { asJsonObject, asString, type JsonObject, omitNulls } from '#core/json.ts';
import type { CallOptions, KubernetesClient } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { hasLastApplied, lastAppliedAnnotation, parseLastApplied, withLastApplied } from './last-applied.ts';
import { findPatchType } from './patch-schema.ts';
import { adviseOnRecord, hideValues } from './refusal.ts';
import { type ApplyResult, warnIfDeleting } from './result.ts';
import { retryWrite } from './retry-write.ts';
import { type ApplyOptions, type WriteTarget, withoutResourceVersion } from './target.ts';
import { createJsonMergePatch, createStrategicPatch, hasDifference } from './three-way-merge.ts';

/** kubectl's name as the owner of fields, and its option to have unknown fields refused. */
const writer = {
  fieldManager: 'kubectl-client-side-apply',
  fieldValidation: 'Strict',
  looksFirst: true,
} as const;
const missingAnnotationWarning =
  `The live object has no annotation ${lastAppliedAnnotation}: it was added, and fields that an earlier manifest ` +
  'had and this one has not are kept';

/** Applies as `kubectl apply` does without `--server-side`. See `applyManifest`. */
export async function applyClientSide(
  client: KubernetesClient,
  target: WriteTarget,
  { signal, clock, firstLook }: ApplyOptions,
): Promise<ApplyResult> {
  const modified = { ...target, manifest: withLastApplied(target.manifest) };
  return retryWrite({
    look: (retry) =>
      retry === 0 && firstLook !== undefined ? firstLook() : client.get(target.ref, { signal }),
    write: (current) =>
      current === undefined
        ? create(client, modified, { signal })
        : update(client, { ...modified, current }, { signal }),
    isLostRace,
    signal,
    clock,
  });
}

/** Creates as an apply does. @throws KubernetesApiError (409, `AlreadyExists`) if there is an object of that name. */
export async function createClientSide(
  client: KubernetesClient,
  target: WriteTarget,
  options: CallOptions,
): Promise<ApplyResult> {
  return create(client, { ...target, manifest: withLastApplied(target.manifest) }, options);
}

/** True if a write failed because of another client's change since the object was read. */
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
  const object = await client
    .create(ref.resource, body, { ...writer, ...options })
    .catch((error: unknown) => {
      throw adviseOnRecord(error);
    });
  return { object, outcome: 'created', warnings: [] };
}

async function update(
  client: KubernetesClient,
  { ref, manifest, current }: WriteTarget & { readonly current: Manifest },
  options: CallOptions,
): Promise<ApplyResult> {
  const warnings = hasLastApplied(current) ? [] : [missingAnnotationWarning];
  const patch = createPatch(manifest, current);
  if (Object.keys(patch.body).length === 0) {
    return { object: current, outcome: 'unchanged', warnings: [...warnings, ...warnIfDeleting(current)] };
  }
  const { isIdle, ...request } = patch;
  const object = isIdle
    ? current
    : await client.patch(ref, { ...request, ...writer }, options).catch((error: unknown) => {
        throw adviseOnRecord(hideValues(error, ref));
      });
  return { object, outcome: 'configured', warnings: [...warnings, ...warnIfDeleting(object)] };
}

interface ThreeWayPatch {
  readonly type: 'strategic' | 'merge';
  readonly body: JsonObject;
  /** True if it changes nothing: kubectl would still send it, and report that. */
  readonly isIdle: boolean;
}

function createPatch(modified: Manifest, current: Manifest): ThreeWayPatch {
  const versions = { original: parseLastApplied(current), modified, current };
  const type = findPatchType(asString(modified.apiVersion) ?? '', asString(modified.kind) ?? '');
  if (type === undefined) return { type: 'merge', body: createJsonMergePatch(versions), isIdle: false };
  const body = createStrategicPatch(versions, type);
  return { type: 'strategic', body, isIdle: !hasDifference(versions, type) };
}
