import { FailedOperationError } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { ObjectRef, PatchRequest } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { readUid } from './steps/deletion.ts';
import type { OperationWork } from './steps/operation-definition.ts';

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
