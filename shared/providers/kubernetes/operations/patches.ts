import type { KubernetesObject } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonObject, asString, type JsonObject } from '#core/json.ts';
import type { ObjectRef, PatchRequest } from '../api/client.ts';
import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { applyJsonPatch, hashTouched, type JsonPatchOperation } from '../manifest/json-patch.ts';
import { readUid } from './steps/deletion.ts';
import type { OperationWork } from './steps/v2-operation.ts';

/** A patch of one particular object. */
export interface SamePatch extends PatchRequest {
  readonly type: 'strategic' | 'merge';
  readonly body: JsonObject;
  /** UID of the object, which no other object ever has. */
  readonly uid: string;
}

/**
 * Patches an object, but not another one that took its name.
 *
 * @throws FailedOperationError if there is another one, KubernetesApiError with the API server's words.
 */
export async function patchSame(
  ref: ObjectRef,
  { uid, ...patch }: SamePatch,
  { client, run }: Pick<OperationWork, 'client' | 'run'>,
): Promise<Manifest> {
  const { signal } = run;
  const body = { ...patch.body, metadata: { ...asJsonObject(patch.body.metadata), uid } };
  try {
    return await client.patch(ref, { ...patch, body }, { signal });
  } catch (error) {
    // For another uid the API server answers either an invalid value or a conflict.
    if (!(error instanceof KubernetesApiError) || !/^(Invalid|Conflict)$/.test(error.reason)) throw error;
    const live = await client.get(ref, { signal });
    if (live === undefined || readUid(live) === uid) throw error;
    throw new FailedOperationError('it was replaced by another of its name');
  }
}

/** A JSON patch of one object. */
export interface OncePatch {
  readonly ref: ObjectRef;
  readonly operations: readonly JsonPatchOperation[];
  readonly fieldManager: string;
}

/** The object to patch, as the journal keeps it: fingerprints, no values. */
type PatchState = {
  readonly resourceVersion: string;
  /** Fingerprint of the places that the patch touches, as they are … */
  readonly before: string;
  /** … and as they will be, as far as is known here. */
  readonly after: string;
  /** Index of the operation that does not fit, or null. */
  readonly misfit: number | null;
};

/** The outcome of a try: the patched object, or none, with the reason if the outcome is unknown. */
type Outcome = { readonly patched: Manifest } | { readonly doubt?: FailedOperationError };

/** How often the object is read again because it changed in between. */
const maxRetries = 5;

/**
 * Applies a JSON patch once, even one whose effect differs each time, such as adding to a list.
 *
 * It is sent for exactly the version of the object that was read, so that it can take effect only once. If an answer is lost, or the worker
 * died, the places that it touches in the object show whether it took effect.
 *
 * @throws KubernetesApiError with the API server's words, FailedOperationError if it is unknown whether the patch took effect, because
 *   another client changed the same places.
 */
export async function patchOnce(patch: OncePatch, work: OperationWork): Promise<Manifest> {
  let doubt: FailedOperationError | undefined;
  for (let retry = 0; retry <= maxRetries; retry++) {
    let isRepeat = true;
    const state = await work.run.decide(`state/${retry}`, async () => {
      if (doubt !== undefined) throw doubt;
      isRepeat = false;
      return readState(await getLive(patch, work), patch);
    });
    const outcome = await tryPatch({ ...patch, state, isRepeat }, work);
    if ('patched' in outcome) return outcome.patched;
    doubt = outcome.doubt;
  }
  throw new FailedOperationError('others kept changing it; try again when they are done');
}

function readState(live: Manifest, { operations }: OncePatch): PatchState {
  const { patched, misfit = null } = applyJsonPatch(live, operations);
  return {
    resourceVersion: readVersion(live),
    before: hashTouched(live, operations),
    after: hashTouched(patched, operations),
    misfit,
  };
}

/** @param patch.isRepeat it may have been sent before */
async function tryPatch(
  patch: OncePatch & { readonly state: PatchState; readonly isRepeat: boolean },
  work: OperationWork,
): Promise<Outcome> {
  const { ref, operations, fieldManager, state } = patch;
  const version = { op: 'replace', path: '/metadata/resourceVersion', value: state.resourceVersion } as const;
  try {
    const body = [version, ...operations];
    const { signal } = work.run;
    return { patched: await work.client.patch(ref, { type: 'json', fieldManager, body }, { signal }) };
  } catch (error) {
    if (!isWorthALook(error)) throw error;
    const live = await getLive(patch, work);
    const wasHeard = error instanceof KubernetesApiError && error.status < 500;
    if (readVersion(live) === state.resourceVersion) {
      if (wasHeard) throw explainMisfit(error, patch);
      return {};
    }
    return wasHeard && !patch.isRepeat ? {} : judge(live, patch);
  }
}

/** Whether reading the object can explain a failure: it changed, the patch does not fit it any more, or no answer came. */
function isWorthALook(error: unknown): boolean {
  if (error instanceof KubernetesConnectionError) return true;
  return (
    error instanceof KubernetesApiError && (error.status >= 500 || /^4(09|22)$/.test(String(error.status)))
  );
}

/** Names the operation that does not fit: the API server does not. */
function explainMisfit(
  error: KubernetesApiError,
  { operations, state: { misfit } }: OncePatch & { readonly state: PatchState },
): Error {
  const operation = operations[misfit ?? -1];
  if (operation === undefined) return error;
  return new FailedOperationError(
    `patchBody[${misfit}] (${operation.op} ${operation.path}) does not fit it: ${error.message}`,
  );
}

/** Decides by a changed object whether the patch took effect. */
function judge(live: Manifest, { operations, state }: OncePatch & { readonly state: PatchState }): Outcome {
  const touched = hashTouched(live, operations);
  if (state.misfit === null && touched === state.after) return { patched: live };
  if (touched === state.before) return {};
  const doubt =
    'somebody else changed the same places, and the answer to the patch was lost: look whether it took effect';
  return { doubt: new FailedOperationError(doubt) };
}

async function getLive({ ref }: Pick<OncePatch, 'ref'>, { client, run }: OperationWork): Promise<Manifest> {
  const live = await client.get(ref, { signal: run.signal });
  if (live !== undefined) return live;
  throw new FailedOperationError('it was not found');
}

function readVersion(live: Manifest): string {
  return asString(asUnchecked<KubernetesObject>(live).metadata?.resourceVersion) ?? '';
}
