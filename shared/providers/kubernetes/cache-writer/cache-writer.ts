import { type CacheStore, RowContendedError } from '../../../core/cache/cache-store.ts';
import type { Clock, Randomness } from '../../../core/clock.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import { selfKey } from '../rows/row-entries.ts';
import { getRowName, rowViews } from '../rows/row-names.ts';
import { findUnused, pruneApplications } from './directory-names.ts';
import type { CacheWriter, ObjectChange, WriteOutcome } from './object-change.ts';
import {
  addOwnRows,
  finishWrite,
  getKnownClass,
  isChanging,
  listDepartures,
  type ObjectWrite,
  planWrite,
  putObjects,
} from './object-writes.ts';
import { waitOutThrottles } from './patient-store.ts';
import {
  findDetachment,
  findOwner,
  findPlacement,
  type OwnerStates,
  type PodPlacement,
  readOwners,
  writePods,
} from './pod-rows.ts';
import { findProof } from './restored-cluster.ts';
import { createRowBatch } from './row-batch.ts';
import { isServerGroup, movePods } from './server-group-moves.ts';
import {
  fence,
  type KnownObject,
  readKnownObjects,
  toObjectKey,
  type Writing,
  type WritingAccount,
  writingConcurrency,
} from './writing.ts';

/** What a cache writer is made of. */
export interface CacheWriterOptions {
  readonly cache: CacheStore;
  readonly account: WritingAccount;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** A change is thought over so many times when others write its object meanwhile. */
const roundsMax = 8;

const roundPauseMs = 20;

/** Writes what became of an account's objects: see {@link CacheWriter}. */
export function createCacheWriter(options: CacheWriterOptions): CacheWriter {
  const start = (ensureHeld = (): void => undefined): Writing => ({
    ...options,
    cache: waitOutThrottles(fence(options.cache, ensureHeld), options),
    dropped: new Set(),
    proofs: [],
  });
  return {
    write: (changes, { ensureHeld } = {}) => writeChanges(start(ensureHeld), changes),
    prune: (applications) => pruneApplications(start(), applications),
  };
}

/** Server groups go away last: their pods mostly go away with them, and then need not be brought to where pods wait. */
async function writeChanges(writing: Writing, changes: readonly ObjectChange[]): Promise<WriteOutcome> {
  const isEnd = ({ kind, facts }: ObjectChange): boolean =>
    facts === undefined && writing.account.kindRegistry.find(kind).spinnakerKind === 'serverGroups';
  const results: Omit<WriteOutcome, 'dropped' | 'proof'>[] = [];
  for (const wave of [changes.filter((change) => !isEnd(change)), changes.filter(isEnd)]) {
    results.push(await writeWave(writing, wave));
  }
  return {
    changes: results.reduce((sum, result) => sum + result.changes, 0),
    waiting: [...new Set(results.flatMap(({ waiting }) => waiting))].sort(),
    dropped: [...writing.dropped].sort(),
    proof: writing.proofs[0],
  };
}

/** Writes changes, and thinks those over that others interfered with. */
async function writeWave(
  writing: Writing,
  changes: readonly ObjectChange[],
): Promise<Omit<WriteOutcome, 'dropped' | 'proof'>> {
  const outcome = { changes: 0, waiting: new Set<string>() };
  const absent = new Set<string>();
  let left = changes;
  for (let round = 1; left.length > 0; round += 1) {
    if (round > roundsMax)
      throw new RowContendedError(`${left.length} objects were written by others each time`);
    if (round > 1) await writing.clock.sleep(roundPauseMs * round * writing.randomness.fraction());
    const { written, refused, waiting } = await writeRound(writing, left);
    outcome.changes += written.filter(isChanging).length;
    for (const application of waiting) outcome.waiting.add(application);
    // Nothing is there, and yet it is refused a second time: its end is known already.
    const isOver = ({ row, known }: ObjectWrite): boolean => known === undefined && absent.has(row);
    left = refused.filter((write) => !isOver(write)).map(({ change }) => change);
    for (const { row, known } of refused) if (known === undefined) absent.add(row);
  }
  return { changes: outcome.changes, waiting: [...outcome.waiting] };
}

interface Round {
  readonly written: readonly ObjectWrite[];
  /** What others wrote meanwhile. */
  readonly refused: readonly ObjectWrite[];
  readonly waiting: readonly string[];
}

/**
 * Each step is written before the next one, so that a repetition finds in the cache what is left to do: the objects and what they
 * leave, the rows, the directory, and then the note of what they leave, or the objects' ends.
 */
async function writeRound(writing: Writing, changes: readonly ObjectChange[]): Promise<Round> {
  const known = await readKnown(writing, changes);
  noteProof(writing, changes, known);
  const planned = changes
    .map((change) => planWrite(writing, change, known.get(getRowName(change))))
    .filter((write) => write !== undefined);
  await detach(writing, planned);
  const { written, refused } = await putObjects(writing, planned);
  const rows = createRowBatch(writing);
  for (const write of written) addOwnRows(writing, rows, write);
  const placements = written
    .map((write) => findPlacement(writing, write))
    .filter((each) => each !== undefined);
  const owners = await findOwners(writing, { placements, known, written });
  await writePods(writing, rows, { placements, owners });
  await movePods(writing, rows, written);
  const unused = await findUnused(writing, written.flatMap(listDepartures));
  const waiting = await pruneApplications(writing, unused);
  const unfinished = new Set<ObjectWrite>();
  await forEachConcurrently(written, writingConcurrency, async (write) => {
    if (!(await finishWrite(writing, write))) unfinished.add(write);
  });
  return {
    written: written.filter((write) => !unfinished.has(write)),
    refused: [...refused, ...unfinished],
    waiting,
  };
}

/** One is enough. */
function noteProof(
  { proofs }: Writing,
  changes: readonly ObjectChange[],
  known: ReadonlyMap<string, KnownObject>,
): void {
  for (const change of changes) {
    if (proofs.length > 0) return;
    const cached = known.get(getRowName(change))?.stored.version;
    const proof = cached && findProof(cached, change);
    if (proof !== undefined) proofs.push(proof);
  }
}

/** What is cached of the objects and of the owners of pods. */
function readKnown(writing: Writing, changes: readonly ObjectChange[]): Promise<Map<string, KnownObject>> {
  const { account } = writing;
  const keys = new Map(changes.map((change) => [getRowName(change), toObjectKey(account, change)]));
  for (const { facts } of changes) {
    const owner = facts && findOwner(account, facts);
    if (owner !== undefined) keys.set(getRowName(owner), owner);
  }
  return readKnownObjects(writing, [...keys.values()]);
}

/** Where the owners of pods are: as just written, as read before, or as read now. */
async function findOwners(
  writing: Writing,
  {
    placements,
    known,
    written,
  }: {
    placements: readonly PodPlacement[];
    known: ReadonlyMap<string, KnownObject>;
    written: readonly ObjectWrite[];
  },
): Promise<OwnerStates> {
  const owners: OwnerStates = new Map();
  const unknown = placements.map(({ owner }) => owner).filter((owner) => !known.has(getRowName(owner)));
  const serverGroups = written.filter((write) => isServerGroup(writing, write));
  const isWritten = new Set(serverGroups.map(({ row }) => row));
  const missing = unknown.filter((owner) => !isWritten.has(getRowName(owner)));
  for (const [row, { stored }] of known) owners.set(row, stored);
  for (const [row, owner] of await readOwners(writing, missing)) owners.set(row, owner);
  for (const { row, application, change } of serverGroups) {
    owners.set(row, { application, version: change.version });
  }
  return owners;
}

/**
 * Takes entries out of rows that their objects will not tell of any more once they are written: of a pod that has another owner,
 * and of an object whose kind is counted among another class.
 */
async function detach(writing: Writing, writes: readonly ObjectWrite[]): Promise<void> {
  const rows = createRowBatch(writing);
  for (const write of writes) {
    const { change, known, row } = write;
    const application = known?.stored.application;
    const before = rowViews[getKnownClass(writing, write)];
    if (application === undefined || change.facts === undefined) continue;
    if (before === rowViews[change.facts.spinnakerKind]) continue;
    rows.remove({ application, view: before, row, key: selfKey }, change.version);
  }
  const placements = writes
    .map((write) => findDetachment(writing, write))
    .filter((each) => each !== undefined);
  const owners = await readOwners(
    writing,
    placements.map(({ owner }) => owner),
  );
  await writePods(writing, rows, { placements, owners });
}
