import type { KubernetesObject } from '@kubernetes/client-node';
import { mapConcurrently } from '#core/concurrency.ts';
import { FailedOperationError } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { Look } from '#tasks/wait.ts';
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

/** Objects of one wait that are asked for, or looked at, at a time. */
const objectsAtATime = 16;

/** Names that the history tells of those that are waited for. */
const namesTold = 3;

type DeletingWork = Pick<OperationWork, 'client' | 'session' | 'run' | 'recordDeletion'>;

/**
 * Deletes objects, decided at one time, and waits until they are really gone, finalizers and all. An object that is gone already, or
 * replaced by another of its name, is none of its business, so a repeat is harmless. When one is refused nothing is waited for.
 *
 * @throws FailedOperationError when one is still there after `jobs.local.timeout-minutes`, saying what holds it.
 */
export async function deleteObjects(work: DeletingWork, deletions: readonly Deletion[]): Promise<void> {
  const [first] = deletions;
  if (first === undefined) return;
  const { clock, settings } = work.session;
  let left = deletions;
  const look = async ({ isFirst, isLate }: Look): Promise<true | undefined> => {
    if (isFirst) left = await keep(left, (each) => requestDeletion(work, each));
    left = await keep(left, (each) => isThere(work, each, isLate));
    return left.length === 0 || undefined;
  };
  await work.run.waitUntil(`gone/${first.uid}`, look, {
    describe: () => `${describeSome(left.map(({ fullName }) => fullName))} to be gone`,
    // A decision of a process whose clock was ahead does not make the wait longer.
    deadlineMs: Math.min(first.decidedAtMs, clock.now()) + settings.operationTimeoutMs,
    clock,
  });
  for (const { ref, uid } of deletions) work.recordDeletion?.(ref, uid);
}

/** `configMap a, configMap b, configMap c and 4 more` */
export function describeSome(names: readonly string[]): string {
  const more = names.length - namesTold;
  const told = names.slice(0, namesTold).join(', ');
  return more > 0 ? `${told} and ${more} more` : told;
}

async function keep<T>(items: readonly T[], isKept: (item: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept = await mapConcurrently(items, objectsAtATime, isKept);
  return items.filter((_, index) => kept[index]);
}

/** @returns whether it still ends */
async function requestDeletion(work: DeletingWork, deletion: Deletion): Promise<boolean> {
  const { ref, uid, options } = deletion;
  const { signal } = work.run;
  const request: DeleteRequest = { propagationPolicy: 'Background', ...options, preconditions: { uid } };
  try {
    const answer = await work.client.delete(ref, request, { signal });
    // The object itself is the answer while it still ends, a Status once it is gone.
    return answer !== undefined && asUnchecked<KubernetesObject>(answer).kind !== 'Status';
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.reason !== 'Conflict') throw error;
    if (readUid(await work.client.get(ref, { signal })) === uid) throw error;
    return false;
  }
}

/** The identity of a live object, which no other object ever has; undefined for none. */
export function readUid(object: Manifest | undefined): string | undefined {
  return object && asString(asUnchecked<KubernetesObject>(object).metadata?.uid);
}

/** @throws FailedOperationError when it still is, and that is late */
async function isThere(
  { client, session, run }: DeletingWork,
  deletion: Deletion,
  isLate: boolean,
): Promise<boolean> {
  const live = await client.get(deletion.ref, { signal: run.signal });
  if (live === undefined || readUid(live) !== deletion.uid) return false;
  if (isLate) throw notGone(deletion, live, session.settings.operationTimeoutMs);
  return true;
}

function notGone({ fullName }: Deletion, live: Manifest, timeoutMs: number): FailedOperationError {
  const finalizers = readList(asUnchecked<KubernetesObject>(live).metadata?.finalizers).join(', ');
  const reason =
    finalizers === '' ? 'the cluster has not ended it' : `these finalizers hold it: ${finalizers}`;
  return new FailedOperationError(
    `${fullName} is still there ${timeoutMs / 60_000} minutes after its deletion was asked for; ${reason}`,
  );
}
