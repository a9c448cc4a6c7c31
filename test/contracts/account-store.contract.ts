import { describe, expect, it } from 'vitest';
import { changeRetentionMs, historyRetentionMs } from '#accounts/aws/account-items.ts';
import { DynamoAccountStore } from '#accounts/aws/account-store.ts';
import type { AccountDefinition, StoredAccount } from '#accounts/model/account-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import type { StoreEngine } from './store-bench.ts';

/** Writes that a change makes at most: after each of them, and before the first, its writer dies in some test. */
const writesMax = 9;

const minuteMs = 60_000;

/** Runs the contract of the account store on an engine. */
export function testAccountStore(engineName: string, getEngine: () => StoreEngine): void {
  const open = (clock: TestClock = createStandingClock(), documents = getEngine().openDocuments()) => {
    const { tableName } = getEngine();
    const table = new CacheTable({ documents, tableName, clock, randomness: testRandomness });
    return new DynamoAccountStore({ table, clock });
  };

  describe(`the account store on ${engineName}`, () => {
    it('answers an account as it was saved, and lists it', async () => {
      const store = open();
      const wanted = define('saved');

      const saved = await store.save(wanted, { expected: undefined, modifiedBy: 'anna' });

      expect(saved).toMatchObject({ ...wanted, revision: 1, modifiedBy: 'anna' });
      expect(await open().find(wanted.name)).toEqual(saved);
      expect(await open().find(wanted.name.toUpperCase())).toBeUndefined();
      expect(await open().list({ type: wanted.type })).toEqual([saved]);
      expect(await open().findMany([wanted.name, 'nobody'])).toEqual([saved]);
    });

    it('lets one of 200 simultaneous creators succeed', async () => {
      const wanted = define('contended');
      const stores = Array.from({ length: 20 }, () => open());

      const saved = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          stores[index % stores.length]?.save(wanted, { expected: undefined, modifiedBy: `user-${index}` }),
        ),
      );

      const [winner, ...others] = saved.filter((account) => account !== undefined);
      expect(others).toEqual([]);
      expect(await open().find(wanted.name)).toEqual(winner);
      expect(await listRevisions(open(), wanted.name)).toEqual([1]);
    });

    it('takes names that differ in case alone for one', async () => {
      const store = open();
      const small = define('case');
      const large = { ...define('case'), name: small.name.toUpperCase(), type: small.type };
      await store.save(small, { expected: undefined, modifiedBy: undefined });

      expect(await store.save(large, { expected: undefined, modifiedBy: undefined })).toBeUndefined();
      expect(await store.findAnyCase(large.name)).toMatchObject({ name: small.name });
      expect(await store.remove(large.name, { expected: 1, modifiedBy: undefined })).toBeUndefined();
      expect(await store.find(small.name)).toBeDefined();
    });

    it('refuses a change of what somebody else changed', async () => {
      const store = open();
      const wanted = define('changed');
      await store.save(wanted, { expected: undefined, modifiedBy: undefined });
      await store.save(wanted, { expected: 1, modifiedBy: undefined });

      expect(await store.save(wanted, { expected: 1, modifiedBy: undefined })).toBeUndefined();
      expect(await store.save(wanted, { expected: undefined, modifiedBy: undefined })).toBeUndefined();
      expect(await store.remove(wanted.name, { expected: 1, modifiedBy: undefined })).toBeUndefined();
      expect(await store.find(wanted.name)).toMatchObject({ revision: 2 });
    });

    it('has the history of a name, deletions included, newest first, for 400 days', async () => {
      const clock = createStandingClock();
      const store = open(clock);
      const wanted = define('history');
      await store.save(wanted, { expected: undefined, modifiedBy: 'anna' });
      clock.advance(minuteMs);
      expect(await store.remove(wanted.name, { expected: 1, modifiedBy: 'bert' })).toBe(2);
      expect(await store.find(wanted.name)).toBeUndefined();
      expect(await store.list({ type: wanted.type })).toEqual([]);
      clock.advance(minuteMs);
      const again = await store.save(wanted, { expected: undefined, modifiedBy: 'carl' });

      expect(again).toMatchObject({ revision: 3, createdAtMs: clock.now() });
      expect(await store.listHistory(wanted.name)).toEqual([
        { revision: 3, timestampMs: clock.now(), body: wanted.body, modifiedBy: 'carl' },
        { revision: 2, timestampMs: clock.now() - minuteMs, body: undefined, modifiedBy: 'bert' },
        { revision: 1, timestampMs: clock.now() - 2 * minuteMs, body: wanted.body, modifiedBy: 'anna' },
      ]);
      clock.advance(historyRetentionMs - 1.5 * minuteMs);
      expect(await listRevisions(store, wanted.name)).toEqual([2, 3]);
      expect(await store.listHistory('nobody')).toEqual([]);
    });

    it('lists by pages, from a name on', async () => {
      const store = open();
      const wanted = ['a', 'b', 'c', 'd', 'e'].map((letter) => ({ ...define(letter), type: 'paged' }));
      for (const each of wanted) await store.save(each, { expected: undefined, modifiedBy: undefined });
      const [, second, third] = wanted.map(({ name }) => name);
      await store.remove(third ?? '', { expected: 1, modifiedBy: undefined });

      const page = await store.list({ type: 'paged', startingName: second, limit: 2 });

      expect(page.map(({ name }) => name)).toEqual([second, wanted[3]?.name]);
      const behind = await store.list({ type: 'paged', startingName: `${second}-`, limit: 9 });
      expect(behind.map(({ name }) => name)).toEqual([wanted[3]?.name, wanted[4]?.name]);
    });

    it('tells of changes by versions', async () => {
      const store = open();
      const wanted = define('told');
      const before = await store.readVersion({ consistent: true });
      await store.save(wanted, { expected: undefined, modifiedBy: undefined });
      await store.remove(wanted.name, { expected: 1, modifiedBy: undefined });

      expect(await store.readVersion({ consistent: true })).toBe(before + 2);
      const { name } = wanted;
      const told = [
        { version: before + 1, name },
        { version: before + 2, name },
      ];
      expect(await store.listChanges(before, 10)).toEqual(told);
      expect(await store.listChanges(before, 1)).toEqual(told.slice(0, 1));
      expect(changeRetentionMs).toBeGreaterThanOrEqual(24 * 60 * minuteMs);
    });

    describe.each(['create', 'replace', 'delete', 'create again'] as const)(
      'whose writer dies: %s',
      (kind) => {
        it.each(range(writesMax))('after %i writes', async (writes) => {
          const clock = createStandingClock();
          const wanted = { ...define('killed'), type: `killed-${kind.replace(' ', '-')}-${writes}` };
          const { name, type } = wanted;
          const before = await prepare(open(clock), kind, wanted);
          const version = await open().readVersion({ consistent: true });

          const isDead = await die(open(clock, dieAfter(getEngine(), writes)), { kind, wanted, before });

          // Whoever looks next sees the account before the change or after it, wherever he looks.
          const store = open(clock);
          const found = await store.find(name);
          const isChanged = (found?.revision ?? 0) !== (before?.revision ?? 0);
          expect(await store.list({ type })).toEqual(found ? [found] : []);
          expect(isChanged || isDead).toBe(true);
          const latest = (await store.listHistory(name))[0]?.revision ?? 0;
          expect(await listRevisions(store, name)).toEqual(range(latest).map((revision) => revision + 1));
          clock.advance(minuteMs);
          await store.completeChanges();
          const told = (await store.listChanges(version, 100)).some((change) => change.name === name);
          expect(told).toBe(isChanged);
          // The next writer goes on from there.
          const next = await store.save(wanted, { expected: found?.revision, modifiedBy: undefined });
          expect(next?.revision).toBe(latest + 1);
          expect(await listRevisions(store, name)).toEqual(range(latest + 1).map((revision) => revision + 1));
          // Nothing is left to be done, but for what may yet come about.
          clock.advance(minuteMs * 61);
          await store.completeChanges();
          expect(await store.completeChanges()).toBe(0);
        });
      },
    );

    it('completes what a dead writer left before another change hides it', async () => {
      const clock = createStandingClock();
      const wanted = define('hidden');
      const version = await open().readVersion({ consistent: true });
      await die(open(clock, dieAfter(getEngine(), 3)), { kind: 'create', wanted, before: undefined });
      expect(await open(clock).find(wanted.name)).toMatchObject({ revision: 1 });

      await open(clock).save(wanted, { expected: 1, modifiedBy: undefined });

      expect(await listRevisions(open(clock), wanted.name)).toEqual([1, 2]);
      expect(await open().listChanges(version, 10)).toHaveLength(2);
    });
  });
}

type ChangeKind = 'create' | 'replace' | 'delete' | 'create again';

let count = 0;

/** A definition of an account that nobody has, of a type of its own. */
function define(word: string): AccountDefinition & Pick<StoredAccount, 'origin'> {
  count += 1;
  const name = `${word}-${process.pid}-${count}`;
  const type = `type-${count}`;
  return { name, type, body: { type, name, namespaces: [word] }, origin: 'credentials' };
}

/** Brings about what is to be changed. */
async function prepare(
  store: DynamoAccountStore,
  kind: ChangeKind,
  wanted: ReturnType<typeof define>,
): Promise<StoredAccount | undefined> {
  if (kind === 'create') return undefined;
  const saved = await store.save(wanted, { expected: undefined, modifiedBy: undefined });
  if (kind !== 'create again') return saved;
  await store.remove(wanted.name, { expected: 1, modifiedBy: undefined });
  return undefined;
}

interface Dying {
  readonly kind: ChangeKind;
  readonly wanted: ReturnType<typeof define>;
  readonly before: StoredAccount | undefined;
}

/** @returns whether the writer died before it was done */
async function die(store: DynamoAccountStore, { kind, wanted, before }: Dying): Promise<boolean> {
  const writer = { expected: before?.revision, modifiedBy: undefined };
  const change = kind === 'delete' ? store.remove(wanted.name, writer) : store.save(wanted, writer);
  return change.then(
    () => false,
    (error: Error) => {
      expect(error.message).toBe('killed');
      return true;
    },
  );
}

/** Connections whose owner dies once it has made so many writes. */
function dieAfter(engine: StoreEngine, writes: number): StoreTestClient {
  const documents = engine.openDocuments();
  let left = writes;
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        if (/^(Put|Update|Delete)/.test(commandName)) left -= 1;
        if (left < 0) throw new Error('killed');
        return next(args);
      },
    { step: 'initialize', name: 'dieAfter' },
  );
  return documents;
}

async function listRevisions(store: DynamoAccountStore, name: string): Promise<readonly number[]> {
  return (await store.listHistory(name)).map(({ revision }) => revision).reverse();
}

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}
