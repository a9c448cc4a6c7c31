import type { ObjectKey } from '../../../core/cache/cache-store.ts';
import type { Version } from '../../../core/cache/version.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { getEntryKey } from '../rows/row-entries.ts';
import {
  getRowName,
  toEndVersion,
  toLastVersion,
  toMovedVersion,
  waitingApplication,
} from '../rows/row-names.ts';
import type { ObjectWrite } from './object-writes.ts';
import { createRowBatch, type EntryPlace, type RowBatch } from './row-batch.ts';
import { toObjectKey, type Writing, type WritingAccount } from './writing.ts';

/** What becomes of a pod's entry in the row of its owner. */
export interface PodPlacement {
  readonly owner: ObjectKey;
  readonly key: string;
  readonly version: Version;
  readonly seenAt: Version;
  /** Undefined for a pod that is gone, or has another owner now. */
  readonly facts: ObjectFacts | undefined;
}

/** Where a server group is: in an application or, as the version tells, in none. */
export interface OwnerState {
  readonly application?: string | undefined;
  readonly version: Version;
  readonly leaving?: readonly string[] | undefined;
}

/** What is known of server groups, by the names of their rows; undefined for those that are not cached. */
export type OwnerStates = Map<string, OwnerState | undefined>;

/** The server group that a pod's owner references name. Of several it is the first. */
export function findOwner(account: WritingAccount, pod: ObjectFacts): ObjectKey | undefined {
  if (pod.spinnakerKind !== 'instances') return undefined;
  const owner = pod.owners.find(
    ({ kind }) => account.kindRegistry.find(kind).spinnakerKind === 'serverGroups',
  );
  return owner && toObjectKey(account, { ...owner, namespace: pod.namespace });
}

/** What becomes of a pod's entry by a change; undefined for one without an owner, and for what is no pod. */
export function findPlacement(
  { account }: Pick<Writing, 'account'>,
  { change, known }: ObjectWrite,
): PodPlacement | undefined {
  const { version, seenAt, facts } = change;
  const pod = facts ?? known?.facts;
  const owner = pod && findOwner(account, pod);
  if (owner === undefined) return undefined;
  return {
    owner,
    key: getEntryKey(change),
    version: facts === undefined ? toLastVersion(version) : version,
    seenAt,
    facts,
  };
}

/** The removal of a pod's entry from the row of an owner that it does not have any more; undefined where it has the same. */
export function findDetachment(
  { account }: Pick<Writing, 'account'>,
  { change, known }: ObjectWrite,
): PodPlacement | undefined {
  const { facts, version, seenAt } = change;
  const owner = known?.facts && findOwner(account, known.facts);
  if (facts === undefined || owner === undefined) return undefined;
  const next = findOwner(account, facts);
  if (next !== undefined && getRowName(next) === getRowName(owner)) return undefined;
  return { owner, key: getEntryKey(change), version, seenAt, facts: undefined };
}

/** Reads where server groups are now. */
export async function readOwners({ cache }: Writing, keys: Iterable<ObjectKey>): Promise<OwnerStates> {
  const wanted = new Map([...keys].map((key) => [getRowName(key), key]));
  if (wanted.size === 0) return new Map();
  const found = await cache.getObjects([...wanted.values()], { consistent: true });
  return new Map([...wanted.keys()].map((row, index) => [row, found[index]]));
}

/** Where an entry was put, and by which version of the owner; undefined for an owner that was not there. */
export interface PodPlace {
  readonly application: string;
  readonly since: Version | undefined;
}

/**
 * Writes pods' entries, with what else is in the batch.
 *
 * @param owners what is known of the owners, perhaps not the latest.
 */
export async function writePods(
  writing: Writing,
  rows: RowBatch,
  { placements, owners }: { placements: readonly PodPlacement[]; owners: OwnerStates },
): Promise<void> {
  const places = new Map<PodPlacement, PodPlace>();
  for (const placement of placements) {
    const owner = owners.get(getRowName(placement.owner));
    const application = getApplication(owner);
    places.set(placement, { application, since: findSince(owner) });
    addPod(rows, placement, { application, version: placement.version });
  }
  await rows.write();
  await followOwners(writing, rows, places);
}

/**
 * Brings pods to where their owners are, if these moved while the rows were written. A pod belongs where its owner is, and that may
 * change between the look at the owner and the write of the row. So the owner is looked at once more: either whoever moves it sees
 * the pod in the row, or this writer sees that it moved.
 *
 * @param places where the pods were put. What is done is taken out.
 */
export async function followOwners(
  writing: Writing,
  rows: RowBatch,
  places: Map<PodPlacement, PodPlace>,
): Promise<void> {
  const left = createRowBatch(writing);
  while (places.size > 0) {
    const latest = await readOwners(
      writing,
      [...places.keys()].map(({ owner }) => owner),
    );
    for (const [placement, before] of [...places]) {
      const owner = latest.get(getRowName(placement.owner));
      const application = getApplication(owner);
      if (application === before.application) {
        places.delete(placement);
        continue;
      }
      const since = findSince(owner) ?? (before.since && toEndVersion(before.since));
      const version = toPlacedVersion(placement, since);
      left.remove(toPlace(placement, before.application), version);
      addPod(rows, placement, { application, version });
      places.set(placement, { application, since });
    }
    // In this order: a pod that is in two rows is found again, one that is in none is not.
    await rows.write();
    await left.write();
  }
}

/** In which application's rows the pods of a server group stand. */
export function getApplication(owner: OwnerState | undefined): string {
  return owner?.application ?? waitingApplication;
}

/** The place of a pod in its owner's row. */
export function toPlace(
  { owner, key }: Pick<PodPlacement, 'owner' | 'key'>,
  application: string,
): EntryPlace {
  return { application, view: 'serverGroups', row: getRowName(owner), key };
}

function addPod(
  rows: RowBatch,
  placement: PodPlacement,
  { application, version }: { application: string; version: Version },
): void {
  const { facts, seenAt } = placement;
  const place = toPlace(placement, application);
  if (facts === undefined) rows.remove(place, version);
  else rows.put(place, { version, seenAt, facts });
}

/** Since when a server group is where it is. One that goes away is marked at the version that it had. */
function findSince(owner: OwnerState | undefined): Version | undefined {
  if (owner === undefined) return undefined;
  const isEnding = owner.application === undefined && (owner.leaving ?? []).length > 0;
  return isEnding ? toEndVersion(owner.version) : owner.version;
}

/** The end of a pod comes after everything that moved it, wherever it is. */
function toPlacedVersion({ version, facts }: PodPlacement, since: Version | undefined): Version {
  return facts === undefined || since === undefined ? version : toMovedVersion(version, since);
}
