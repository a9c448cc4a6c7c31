import { type Item, type ItemKey, ItemTable, type RawItem } from '#platform/aws/table.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import type { JournalEntry, LeasedTask, NewTask, SubmittedOperation } from '#tasks/task.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { chooseSize, type TestSizes } from '#test/support/run/test-size.ts';

/** A DynamoDB to run the contract on. */
export interface StoreEngine {
  readonly tableName: string;
  openDocuments(): StoreTestClient;
}

/** How many cases of a property are tried, of those that its test names. */
export type CountCases = (sizes: TestSizes<number>) => number;

/** Few cases in the short form, for an engine that gives a second opinion: what our own does has been tried with all of them. */
export const countFewCases: CountCases = ({ short, long }) =>
  chooseSize({ short: Math.ceil(short / 5), long });

/** A store with a connection of its own, as one function of ours has it. */
export interface StoreBench {
  readonly store: DynamoTaskStore;
  readonly table: ItemTable;
  readonly clock: TestClock;
  readonly documents: StoreTestClient;
}

/** Opens a store. Stores that are to see the same time share a clock. */
export function openStore(engine: StoreEngine, clock: TestClock = createStandingClock()): StoreBench {
  const documents = engine.openDocuments();
  const table = new ItemTable(documents, engine.tableName);
  const store = new DynamoTaskStore({ table, clock, randomness: testRandomness });
  return { store, table, clock, documents };
}

/** A task that nobody has submitted yet. */
export function newTask(operations: readonly SubmittedOperation[] = smallPayload): NewTask {
  return {
    id: testRandomness.id(),
    requestId: 'request',
    account: 'account',
    accounts: ['account'],
    isRestricted: false,
    caller: { user: 'somebody' },
    operations,
    entry: entry('accept'),
  };
}

const smallPayload = [{ provider: 'p', name: 'o', description: { field: 'value' } }];

/** Operations whose payload is about so long, and cannot be compressed to much less. */
export function largePayload(bytes: number): SubmittedOperation[] {
  return [{ provider: 'p', name: 'o', description: { text: largeText(bytes) } }];
}

/** A text of about so many characters that can hardly be compressed. */
export function largeText(length: number): string {
  const ids = Math.ceil(length / testRandomness.id().length);
  return Array.from({ length: ids }, () => testRandomness.id()).join('');
}

/** A journal entry with one line. */
export function entry(key: string): JournalEntry {
  return { key, lines: [{ phase: 'PHASE', status: `line of ${key}` }] };
}

/** A commit of one entry that keeps the lease. */
export function hold(key: string): { entries: JournalEntry[]; next: 'hold' } {
  return { entries: [entry(key)], next: 'hold' };
}

/** Takes the lease as a worker that nobody else is. */
export async function take(store: DynamoTaskStore, id: string, attempts = 1): Promise<LeasedTask> {
  const leased = await store.takeLease(id, { ownerId: `${testRandomness.id()}@test`, attempts });
  if (leased === undefined) throw new Error('no lease');
  return leased;
}

/** A store that has just been opened, and a task that it accepted. */
export async function openAccepted(open: () => StoreBench) {
  const bench = open();
  return { ...bench, task: (await bench.store.accept(newTask())).task };
}

/** The same, and a lease of the task. */
export async function openLeased(open: () => StoreBench) {
  const bench = await openAccepted(open);
  return { ...bench, lease: (await take(bench.store, bench.task.id)).lease };
}

/** Keys of a task's journal, in order. */
export async function getKeys(store: DynamoTaskStore, id: string): Promise<string[]> {
  return (await store.find(id))?.journal.map(({ key }) => key) ?? [];
}

/** Sends each request twice and keeps the second answer, as when the first one is lost on its way. */
export function repeatEveryWrite(documents: StoreTestClient): void {
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      const write = /Put|Update|Delete/.test(String(context.commandName));
      if (write) await next(args).catch(() => undefined);
      return next(args);
    },
    { step: 'finalizeRequest', name: 'repeatEveryWrite', priority: 'low' },
  );
}

/**
 * Lets something happen while a client's call is under way: once, at its next call of this kind.
 *
 * @param when `afterwards`: the call is done, its answer is lost, and it is sent again. `before`: just before it is sent.
 */
export function interrupt(
  documents: StoreTestClient,
  call: { readonly command: RegExp; readonly when: 'before' | 'afterwards' },
  meanwhile: () => unknown,
): void {
  let isDone = false;
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      if (isDone || !call.command.test(String(context.commandName))) return next(args);
      isDone = true;
      if (call.when === 'afterwards') await next(args);
      await meanwhile();
      return next(args);
    },
    { step: 'finalizeRequest', name: `interrupt ${testRandomness.id()}`, priority: 'low' },
  );
}

/**
 * Ends a client at its n-th write and all later ones, as when its process is killed before sending that one.
 *
 * @param writes how many succeed
 */
export function dieAfterWrites(documents: StoreTestClient, writes: number): void {
  let sent = 0;
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      if (/Put|Update|Delete/.test(String(context.commandName)) && sent++ >= writes) {
        throw new Error('killed');
      }
      return next(args);
    },
    { step: 'finalizeRequest', name: 'dieAfterWrites', priority: 'high' },
  );
}

/** Ends a client's puts into some partitions, as when its process is killed while others of the same time arrive. */
export function refusePut(documents: StoreTestClient, partition: RegExp): void {
  documents.middlewareStack.add(
    (next) => async (args) => {
      const { Item: item } = args.input as { Item?: RawItem };
      if (partition.test(item?.['pk']?.S ?? '')) throw new Error('killed');
      return next(args);
    },
    { step: 'initialize', name: 'refusePut', priority: 'high' },
  );
}

/** Keys of the items that a client puts from now on, in order. */
export function watchPuts(documents: StoreTestClient): readonly ItemKey[] {
  const keys: ItemKey[] = [];
  documents.middlewareStack.add(
    (next) => async (args) => {
      const { Item: item } = args.input as { Item?: RawItem };
      if (item !== undefined) keys.push({ pk: item['pk']?.S ?? '', sk: item['sk']?.S ?? '' });
      return next(args);
    },
    { step: 'initialize', name: 'watchPuts', priority: 'high' },
  );
  return keys;
}

/** The payload chunks among items that were put, as far as they are still there. */
export async function findChunks(table: ItemTable, puts: readonly ItemKey[]): Promise<Item[]> {
  const chunks = puts.filter(({ pk }) => pk.startsWith('PAYLOAD#'));
  const items = await Promise.all(chunks.map((key) => table.get(key)));
  return items.filter((item) => item !== undefined);
}

/** Keys of the rows that the list of open tasks has of a task. */
export async function getOpenRows(store: DynamoTaskStore, id: string): Promise<string[]> {
  return (await store.listOpen(10_000)).filter(({ taskId }) => taskId === id).map(({ key }) => key);
}
