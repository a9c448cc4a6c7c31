import type { StoredRow } from '../../../core/cache/cache-store.ts';
import type { LiveEntry } from '../../../core/cache/packed-row.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import { asFacts, selfKey } from '../rows/row-entries.ts';
import { getRowName, toEndVersion, toMovedVersion, waitingApplication } from '../rows/row-names.ts';
import { getKnownClass, type ObjectWrite } from './object-writes.ts';
import { findOwner, followOwners, type PodPlace, type PodPlacement, toPlace } from './pod-rows.ts';
import { createRowBatch, type RowBatch } from './row-batch.ts';
import {
  type KnownObject,
  readKnownObjects,
  toObjectKey,
  type Writing,
  writingConcurrency,
} from './writing.ts';

/** From so many server groups on, all rows of waiting pods are read at once: mostly there are none. */
const wholeFrom = 8;

/** A pod in a row of a server group that was written. */
interface FoundPod {
  readonly write: ObjectWrite;
  /** In whose rows it stands. */
  readonly application: string;
  readonly key: string;
  readonly entry: LiveEntry;
}

/**
 * Brings pods to where their server groups are now: from the applications that these left, and from the rows of those that wait.
 * Pods of a server group that goes away, or is in no application, wait from then on.
 */
export async function movePods(
  writing: Writing,
  rows: RowBatch,
  writes: readonly ObjectWrite[],
): Promise<void> {
  const serverGroups = writes.filter((write) => isServerGroup(writing, write));
  const found = await findPods(writing, serverGroups);
  if (found.length === 0) return;
  const known = await readKnownObjects(
    writing,
    found.map(({ entry }) => toObjectKey(writing.account, asFacts(entry.value))),
  );
  const places = new Map<PodPlacement, PodPlace>();
  const left = createRowBatch(writing);
  for (const pod of found) {
    const now = known.get(getRowName(asFacts(pod.entry.value)));
    const owner = now?.facts && findOwner(writing.account, now.facts);
    const isOwned = owner !== undefined && getRowName(owner) === pod.write.row;
    if (isOwned && now !== undefined) movePod({ rows, left }, pod, { now, places });
    else left.remove(toPlace({ owner: pod.write.key, key: pod.key }, pod.application), pod.entry.version);
  }
  // In this order: whoever repeats it after a death finds pods that are in two rows, but none that are in no row.
  await rows.write();
  await left.write();
  await followOwners(writing, rows, places);
}

/** Whether a change is of a server group: pods follow it. */
export function isServerGroup(writing: Pick<Writing, 'account'>, write: ObjectWrite): boolean {
  return (write.change.facts?.spinnakerKind ?? getKnownClass(writing, write)) === 'serverGroups';
}

function movePod(
  { rows, left }: { readonly rows: RowBatch; readonly left: RowBatch },
  { write, application, key, entry }: FoundPod,
  { now, places }: { now: KnownObject; places: Map<PodPlacement, PodPlace> },
): void {
  const { change } = write;
  const target = getTarget(write);
  // The end of a server group may have the version at which it came.
  const since = change.facts === undefined ? toEndVersion(change.version) : change.version;
  const version = toMovedVersion(now.stored.version, since);
  // What has a later version was put there by somebody who knew more of the server group.
  if (target === application || version < entry.version || now.facts === undefined) return;
  const placement = {
    owner: write.key,
    key,
    version: now.stored.version,
    seenAt: change.seenAt,
    facts: now.facts,
  };
  rows.put(toPlace(placement, target), { version, seenAt: change.seenAt, facts: now.facts });
  left.remove(toPlace(placement, application), version);
  places.set(placement, { application: target, since });
}

async function findPods(writing: Writing, writes: readonly ObjectWrite[]): Promise<FoundPod[]> {
  const found: FoundPod[] = [];
  const collect = (write: ObjectWrite, application: string, row: StoredRow | undefined): void => {
    for (const [key, entry] of row?.read() ?? []) {
      if (key !== selfKey) found.push({ write, application, key, entry });
    }
  };
  const waiting = await readWaiting(writing, writes);
  const { cache, account } = writing;
  await forEachConcurrently(writes, writingConcurrency, async (write) => {
    const { row } = write;
    collect(write, waitingApplication, waiting.get(row));
    for (const application of listOrigins(write)) {
      const key = { application, account: account.name, view: 'serverGroups', row };
      collect(write, application, await cache.getRow(key, { consistent: true }));
    }
  });
  return found;
}

/** The rows of pods that wait for these server groups. */
async function readWaiting(
  { cache, account }: Writing,
  writes: readonly ObjectWrite[],
): Promise<Map<string, StoredRow>> {
  const wanted = writes.filter((write) => getTarget(write) !== waitingApplication);
  const found = new Map<string, StoredRow>();
  const place = { application: waitingApplication, account: account.name, view: 'serverGroups' };
  if (wanted.length < wholeFrom) {
    await forEachConcurrently(wanted, writingConcurrency, async ({ row }) => {
      const stored = await cache.getRow({ ...place, row }, { consistent: true });
      if (stored !== undefined) found.set(row, stored);
    });
    return found;
  }
  const { view } = place;
  const pages = cache.listRows(waitingApplication, account.name, { view, consistent: true });
  for await (const rows of pages) for (const stored of rows) found.set(stored.row, stored);
  return found;
}

/**
 * Applications whose rows may have pods of the server group. The one that it comes to is among them: when it was there before,
 * a writer may have died that had to take a pod out.
 */
function listOrigins(write: ObjectWrite): string[] {
  const { application, leaving, known } = write;
  const isComing = application !== undefined && known?.stored.application !== application;
  const origins = new Set([...leaving, ...(isComing ? [application] : [])]);
  return [...origins].filter((each) => each !== waitingApplication);
}

function getTarget({ application }: ObjectWrite): string {
  return application ?? waitingApplication;
}
