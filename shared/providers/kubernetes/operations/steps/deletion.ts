import type { KubernetesObject } from '@kubernetes/client-node';
import { FailedOperationError } from '../../../../core/errors.ts';
import { asString } from '../../../../core/json.ts';
import type { DeleteRequest, ObjectRef } from '../../api/client.ts';
import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, readList } from '../../api/unchecked.ts';
import type { OperationWork } from './operation-definition.ts';

/** One object to be deleted: this very one, not another that comes to have its name. */
export interface Deletion {
  readonly ref: ObjectRef;
  /** Full name for messages: `deployment web`. */
  readonly fullName: string;
  readonly uid: string;
  /** Wall time of the decision to delete it, milliseconds: the wait for its end is counted from there. */
  readonly decidedAtMs: number;
  /** Default: dependents go too, in the background. */
  readonly options?: Pick<DeleteRequest, 'propagationPolicy' | 'gracePeriodSeconds'>;
}

const firstPauseMs = 10;
const pauseGrowth = 1.5;
const maximumPauseMs = 1_000;

/**
 * Deletes an object and waits until it is really gone, finalizers and all. An object that is gone already, or replaced by
 * another of its name, is none of its business, so a repeat is harmless.
 *
 * @throws FailedOperationError when it is still there after `jobs.local.timeout-minutes`, saying what holds it.
 */
export async function deleteObject(work: DeletingWork, deletion: Deletion): Promise<void> {
  await requestDeletion(work, deletion);
  work.recordDeletion?.(deletion.ref, deletion.uid);
}

type DeletingWork = Pick<OperationWork, 'client' | 'session' | 'run' | 'recordDeletion'>;

async function requestDeletion(work: DeletingWork, deletion: Deletion): Promise<void> {
  const { ref, uid, options } = deletion;
  const { signal } = work.run;
  const request: DeleteRequest = { propagationPolicy: 'Background', ...options, preconditions: { uid } };
  try {
    const answer = await work.client.delete(ref, request, { signal });
    // The object itself is the answer while it still ends, a Status once it is gone.
    if (answer === undefined || asUnchecked<KubernetesObject>(answer).kind === 'Status') return;
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.reason !== 'Conflict') throw error;
    if (readUid(await work.client.get(ref, { signal })) === uid) throw error;
    return;
  }
  await waitUntilGone(work, deletion);
}

/** The identity of a live object, which no other object ever has; undefined for none. */
export function readUid(object: Manifest | undefined): string | undefined {
  return object && asString(asUnchecked<KubernetesObject>(object).metadata?.uid);
}

async function waitUntilGone(
  { client, session, run }: Pick<OperationWork, 'client' | 'session' | 'run'>,
  deletion: Deletion,
): Promise<void> {
  const { clock, settings } = session;
  // A decision of a process whose clock was ahead does not make the wait longer.
  const deadlineMs = Math.min(deletion.decidedAtMs, clock.now()) + settings.operationTimeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * pauseGrowth, maximumPauseMs)) {
    const live = await client.get(deletion.ref, { signal: run.signal });
    if (live === undefined || readUid(live) !== deletion.uid) return;
    if (clock.now() >= deadlineMs) throw notGone(deletion, live, settings.operationTimeoutMs);
    await clock.sleep(pauseMs, run.signal);
  }
}

function notGone({ fullName }: Deletion, live: Manifest, timeoutMs: number): FailedOperationError {
  const finalizers = readList(asUnchecked<KubernetesObject>(live).metadata?.finalizers).join(', ');
  const reason =
    finalizers === '' ? 'the cluster has not ended it' : `these finalizers hold it: ${finalizers}`;
  return new FailedOperationError(
    `${fullName} is still there ${timeoutMs / 60_000} minutes after its deletion was asked for; ${reason}`,
  );
}
