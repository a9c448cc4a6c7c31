import { type BackOff, getPauseMs } from '#core/back-off.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { ItemTooLargeError, RowContendedError } from '../store/cache-store.ts';
import { getObjectName } from '../store/object-names.ts';
import { WritePace } from '../store/write-pace.ts';
import { findUnused, pruneApplications, toDirectoryNames } from './directory-names.ts';
import {
  type CacheWriter,
  type ExpectedObject,
  type ObjectChange,
  toLastChanges,
  type WriteOutcome,
} from './object-change.ts';
import {
  addEntries,
  addVacated,
  finishWrite,
  isChanging,
  listDepartures,
  type ObjectWrite,
  planWrite,
  putObjects,
} from './object-writes.ts';
import { findProof } from './restored-platform.ts';
import { RowBatch } from './row-batch.ts';
import {
  type CacheWriterOptions,
  createCaller,
  readKnownObjects,
  toObjectKey,
  untilWritten,
  type WriterContext,
  writingConcurrency,
} from './writer-context.ts';

/** The most tries of a change if others write its object meanwhile. */
const attemptsMax = 8;

const noNames = toDirectoryNames([]);

const backOff: BackOff = { firstMs: 20, growth: 'linear' };

/** Writes changes of an account's objects: see {@link CacheWriter}. */
export function createCacheWriter<Facts>(options: CacheWriterOptions<Facts>): CacheWriter<Facts> {
  const pace = new WritePace(writingConcurrency, options.clock);
  const start = (ensureHeld?: () => void): WriterContext<Facts> => ({
    ...options,
    call: createCaller(options, { pace, ensureHeld }),
    dropped: new Set(),
    proof: undefined,
  });
  return {
    expect: (object) => expectObject(options, object),
    write: (changes, { ensureHeld } = {}) => writeChanges(start(ensureHeld), changes),
    prune: (applications) =>
      pruneApplications(start(), new Map(applications.map((application) => [application, noNames]))),
  };
}

async function expectObject<Facts>(
  { cache, account, model }: Pick<CacheWriterOptions<Facts>, 'cache' | 'account' | 'model'>,
  expected: ExpectedObject<Facts>,
): Promise<void> {
  const key = toObjectKey(account, expected);
  cache.readAhead({ object: key, rows: [] });
  const facts =
    expected.facts ??
    (await readKnownObjects({ call: (read) => read(cache), model }, [key])).get(getObjectName(expected))
      ?.facts;
  if (facts === undefined || model.rows === undefined) return;
  const application = model.rows.findApplication(facts);
  const places = model.rows.listEntries(facts, application);
  const names = toDirectoryNames([model.rows.getNames(facts)]);
  cache.readAhead({
    object: key,
    application: application === undefined ? undefined : { application, account, ...names },
    rows: places.map(({ place, view, row }) => ({ ...place, view, row })),
  });
}

/** Writes changes, and plans those again that met concurrent writes. */
async function writeChanges<Facts>(
  writer: WriterContext<Facts>,
  changes: readonly ObjectChange<Facts>[],
): Promise<WriteOutcome> {
  const outcome = { changes: 0, waiting: new Set<string>() };
  const absent = new Set<string>();
  let left: readonly ObjectChange<Facts>[] = [...toLastChanges(changes)];
  for (let attempt = 1; left.length > 0; attempt += 1) {
    if (attempt > attemptsMax)
      throw new RowContendedError(`${left.length} objects were written by others each time`);
    // The first try may have used outdated reads made ahead.
    if (attempt > 2) await writer.clock.sleep(getPauseMs(backOff, attempt, writer.randomness));
    const { written, refused, waiting } = await tryWrite(writer, left);
    outcome.changes += written.filter(isChanging).length;
    for (const application of waiting) outcome.waiting.add(application);
    // There is no object, and yet the write is refused a second time: its deletion is already recorded.
    const isOver = ({ name, known }: ObjectWrite): boolean => known === undefined && absent.has(name);
    left = refused.filter((write) => !isOver(write)).map(({ change }) => change);
    for (const { name, known } of refused) if (known === undefined) absent.add(name);
  }
  return {
    changes: outcome.changes,
    waiting: [...outcome.waiting].sort(),
    dropped: [...writer.dropped].sort(),
    proof: writer.proof,
  };
}

interface WriteAttempt<Facts> {
  readonly written: readonly ObjectWrite<Facts>[];
  /** Writes refused because others wrote the objects meanwhile. */
  readonly refused: readonly ObjectWrite<Facts>[];
  readonly waiting: readonly string[];
}

/**
 * Writes the steps in order, so that a repetition finds in the cache what is left to do: the entries that objects leave, the objects, their
 * rows and the directory, and then the note of the applications that they leave, or the objects' deletions. The existing locations are
 * noted last, even for changes that came too late, so that a repetition notes them, too.
 */
async function tryWrite<Facts>(
  writer: WriterContext<Facts>,
  changes: readonly ObjectChange<Facts>[],
): Promise<WriteAttempt<Facts>> {
  const keys = changes.map((change) => toObjectKey(writer.account, change));
  const known = await readKnownObjects(writer, keys);
  const findCached = (change: ObjectChange) => known.get(getObjectName(change))?.stored.revision;
  // One proof is enough.
  writer.proof ??= findProof(changes, findCached, writer.model);
  const planned = changes
    .map((change) => planWrite(writer, change, known.get(getObjectName(change))))
    .filter((write) => write !== undefined);
  const rows = new RowBatch(writer);
  for (const write of planned) addVacated(writer, rows, write);
  await rows.write();
  const { written, refused } = await putObjects(writer, planned);
  for (const write of written) addEntries(writer, rows, write);
  await rows.write();
  const unused = await findUnused(
    writer,
    written.flatMap((write) => listDepartures(writer.model, write)),
  );
  const waiting = await pruneApplications(writer, unused);
  const unfinished = new Set<ObjectWrite<Facts>>();
  await forEachConcurrently(written, writingConcurrency, async (write) => {
    if (!(await finishWrite(writer, write))) unfinished.add(write);
  });
  const { locationKind } = writer.model;
  if (locationKind !== undefined && changes.some(({ kind }) => kind === locationKind))
    await recordLocations(writer, locationKind);
  return {
    written: written.filter((write) => !unfinished.has(write)),
    refused: [...refused, ...unfinished],
    waiting,
  };
}

async function recordLocations(writer: WriterContext, kind: string): Promise<void> {
  try {
    await untilWritten(writer, (cache) => cache.recordLocations(writer.account, kind));
  } catch (error) {
    if (!(error instanceof ItemTooLargeError)) throw error;
    writer.dropped.add(`names of ${kind}s`);
  }
}
