import type { KubernetesObject } from '@kubernetes/client-node';
import { mapConcurrently } from '#core/concurrency.ts';
import { FailedOperationError } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { Look } from '#tasks/wait.ts';
import type { DeleteRequest, ObjectRef } from '../../api/client.ts';
import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, readList } from '../../api/unchecked.ts';
import { formatFullName } from '../../kinds/name.ts';
import { getTargetRef } from './target.ts';
import type { OperationWork } from './v2-operation.ts';

/** One object to delete: exactly this one, not another that takes its name. */
export interface Deletion {
  readonly ref: ObjectRef;
  /** Full name for messages: `deployment web`. */
  readonly fullName: string;
  readonly uid: string;
  /** Wall time of the decision to delete it, milliseconds: the wait for its end counts from there. */
  readonly decidedAtMs: number;
  /** Default: dependents are deleted too, in the background. */
  readonly options?: Pick<DeleteRequest, 'propagationPolicy' | 'gracePeriodSeconds'> | undefined;
}

/** The objects to delete, as the journal keeps them: a repeat deletes only these, not new objects of the same names. */
export type DeletionPlan = {
  readonly decidedAtMs: number;
  readonly objects: { kind: string; namespace: string; name: string; uid: string }[];
};

/** Deletes planned objects together, and waits: see {@link deleteObjects}. */
export async function deletePlanned(
  { decidedAtMs, objects }: DeletionPlan,
  work: DeletingWork,
  options?: Deletion['options'],
): Promise<void> {
  const deletions = objects.map(async (target) => {
    const fullName = formatFullName(target.kind, target.name);
    return { ref: await getTargetRef(target, work), fullName, uid: target.uid, decidedAtMs, options };
  });
  await deleteObjects(work, await Promise.all(deletions));
}

/** Objects of one wait that are deleted, or checked, at a time. */
const objectsAtATime = 16;

/** The most names of awaited objects in the history. */
const namesTold = 3;

type DeletingWork = Pick<OperationWork, 'client' | 'session' | 'run' | 'recordDeletion'>;

/**
 * Deletes objects, decided at one time, and waits until they are really gone, including finalizers. Objects that are gone already, or
 * replaced by others of their names, are ignored, so a repeat is harmless. If a deletion is refused, it does not wait.
 *
 * @throws FailedOperationError if one still exists after `jobs.local.timeout-minutes`, saying what blocks it.
 */
export async function deleteObjects(work: DeletingWork, deletions: readonly Deletion[]): Promise<void> {
  const [first] = deletions;
  if (first === undefined) return;
  const { clock, settings } = work.session;
  let left = deletions;
  const finalizers = new Set<string>();
  const look = async ({ isFirst, isLate }: Look): Promise<true | undefined> => {
    if (isFirst) left = await keep(left, (each) => requestDeletion(work, each));
    finalizers.clear();
    left = await keep(left, (each) => isThere(work, each, { isLate, finalizers }));
    return left.length === 0 || undefined;
  };
  const describe = (): string => {
    const names = describeSome(left.map(({ fullName }) => fullName));
    const held = finalizers.size > 0 ? `, held by ${describeSome([...finalizers])}` : '';
    return `${names} to be gone${held}`;
  };
  await work.run.waitUntil(`gone/${first.uid}`, look, {
    describe,
    // A decision by a process whose clock was ahead must not prolong the wait.
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

/** @returns whether it is still terminating */
async function requestDeletion(work: DeletingWork, deletion: Deletion): Promise<boolean> {
  const { ref, uid, options } = deletion;
  const { signal } = work.run;
  const request: DeleteRequest = { propagationPolicy: 'Background', ...options, preconditions: { uid } };
  try {
    const answer = await work.client.delete(ref, request, { signal });
    // The answer is the object itself while it is terminating, and a Status once it is gone.
    return answer !== undefined && asUnchecked<KubernetesObject>(answer).kind !== 'Status';
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.reason !== 'Conflict') throw error;
    if (readUid(await work.client.get(ref, { signal })) === uid) throw error;
    return false;
  }
}

/** The UID of a live object, which no other object ever has; undefined without an object. */
export function readUid(object: Manifest | undefined): string | undefined {
  return object && asString(asUnchecked<KubernetesObject>(object).metadata?.uid);
}

/** @param at.finalizers gets those that hold it @throws FailedOperationError if it still exists past the deadline */
async function isThere(
  { client, session, run }: DeletingWork,
  deletion: Deletion,
  { isLate, finalizers }: Pick<Look, 'isLate'> & { readonly finalizers: Set<string> },
): Promise<boolean> {
  const live = await client.get(deletion.ref, { signal: run.signal });
  if (live === undefined || readUid(live) !== deletion.uid) return false;
  for (const finalizer of readFinalizers(live)) finalizers.add(finalizer);
  if (isLate) throw notGone(deletion, live, session.settings.operationTimeoutMs);
  return true;
}

function notGone({ fullName }: Deletion, live: Manifest, timeoutMs: number): FailedOperationError {
  const finalizers = readFinalizers(live).join(', ');
  const reason =
    finalizers === '' ? 'the cluster has not ended it' : `these finalizers hold it: ${finalizers}`;
  return new FailedOperationError(
    `${fullName} is still there ${timeoutMs / 60_000} minutes after its deletion was asked for; ${reason}`,
  );
}

function readFinalizers(live: Manifest): readonly string[] {
  return readList(asUnchecked<KubernetesObject>(live).metadata?.finalizers).map(String);
}
