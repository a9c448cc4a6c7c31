import { beforeEach, describe, expect, test } from 'vitest';
import { DynamoAccountStore } from '#accounts/aws/account-store.ts';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { accountsTable } from '#platform/aws/tables.ts';
import { LiveAccounts } from '#settings/live/live-accounts.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();
const newest = { maxAgeMs: 0, consistent: true };

let clock: TestClock;
let store: DynamoAccountStore;
let type: string;
let count = 0;
/** What was read of the table. */
let reads: string[];

beforeEach(() => {
  clock = createStandingClock();
  store = openStore();
  count += 1;
  type = `live-${count}`;
  reads = [];
});

function openStore(onRead?: (name: string) => void): DynamoAccountStore {
  const { openDocuments, tableName } = openTable(accountsTable);
  const documents = openDocuments();
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        onRead?.(commandName.replace('ItemCommand', ''));
        return next(args);
      },
    { step: 'initialize', name: 'countReads' },
  );
  const table = new CacheTable({ documents, tableName, clock, randomness: testRandomness });
  return new DynamoAccountStore({ table, clock });
}

/** The accounts as another process knows them. */
function watch(): LiveAccounts {
  const counted = openStore((name) => reads.push(name));
  return new LiveAccounts({ open: async () => counted, clock, types: [type] });
}

async function save(name: string, expected?: number): Promise<StoredAccount | undefined> {
  const full = `${name}-${type}`;
  const definition = { name: full, type, body: { name: full, type }, origin: 'credentials' } as const;
  return store.save(definition, { expected, modifiedBy: undefined });
}

function names({ accounts }: LiveAccounts): readonly string[] {
  return accounts.map(({ name }) => name.replace(`-${type}`, ''));
}

describe('the accounts that a process knows', () => {
  test('are those of the store, and change with it', async () => {
    await save('one');
    const live = watch();
    await live.refresh(newest);
    expect(names(live)).toEqual(['one']);

    await save('two');
    await store.remove(`one-${type}`, { expected: 1, modifiedBy: undefined });
    await live.refresh(newest);

    expect(names(live)).toEqual(['two']);
  });

  test('are looked at no more than once a second, by one small read while nothing changed', async () => {
    await save('one');
    const live = watch();
    await live.refresh(newest);
    const before = live.accounts;
    reads = [];

    for (let passed = 0; passed < 50; passed += 1) {
      clock.advance(100);
      await Promise.all(
        Array.from({ length: 5 }, () => live.refresh({ maxAgeMs: 1_000, consistent: false })),
      );
    }

    expect(reads).toEqual(Array.from({ length: 5 }, () => 'Get'));
    expect(live.accounts).toBe(before);
  });

  test('are the same objects unless they changed', async () => {
    await save('kept');
    await save('changed');
    const live = watch();
    await live.refresh(newest);
    const [changed, kept] = live.accounts;

    await save('changed', 1);
    await live.refresh(newest);

    expect(live.accounts[1]).toBe(kept);
    expect(live.accounts[0]).not.toBe(changed);
    expect(live.accounts[0]).toMatchObject({ revision: 2 });
  });

  test('include changes whose rows come late, after those behind them', async () => {
    const live = watch();
    await live.refresh(newest);
    await save('first');
    await save('second');
    const table = new ItemTable(openTable(accountsTable).openDocuments(), accountsTable.name);
    const [late] = (await table.query('CHANGES')).slice(-2);
    if (late === undefined) throw new Error('no row of the first change');
    await table.delete({ pk: String(late['pk']), sk: String(late['sk']) });
    await live.refresh(newest);
    expect(names(live)).toEqual(['second']);

    await table.put(late);
    clock.advance(1_000);
    await live.refresh(newest);

    expect(names(live)).toEqual(['first', 'second']);
  });

  test('are read as a whole after many changes, and by who slept for a day', async () => {
    const [many, slept] = [watch(), watch()];
    await Promise.all([many.refresh(newest), slept.refresh(newest)]);
    const wanted = Array.from({ length: 510 }, (_, index) => `account-${index}`);
    for (let start = 0; start < wanted.length; start += 30) {
      await Promise.all(wanted.slice(start, start + 30).map((name) => save(name)));
    }

    await many.refresh(newest);
    expect(names(many)).toEqual(wanted.toSorted());
    clock.advance(25 * 3_600_000);
    reads = [];
    await slept.refresh(newest);
    expect(names(slept)).toEqual(wanted.toSorted());
    expect(reads.filter((name) => name === 'BatchGet')).toHaveLength(6);
  });

  test('stay known when the store fails, and the next look tries again', async () => {
    await save('one');
    let isAway = false;
    const open = async () => {
      if (isAway) throw new Error('the store is away');
      return store;
    };
    const live = new LiveAccounts({ open, clock, types: [type] });
    await live.refresh(newest);
    await save('two');
    isAway = true;

    await expect(live.refresh(newest)).rejects.toThrow('away');
    expect(names(live)).toEqual(['one']);
    isAway = false;
    await live.refresh({ maxAgeMs: 0, consistent: false });
    expect(names(live)).toEqual(['one', 'two']);
  });
});
