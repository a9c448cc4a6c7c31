import { describe, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { type ListedPlatform, runListAgent, updateScope } from '#caching/engine/list-run.ts';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore, RowPlace } from '#caching/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import type { CacheModel } from '#caching/writer/cache-model.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { createJsonModel } from '#caching/writer/json-model.ts';
import { FailedOperationError } from '#core/errors.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock, testRandomness } from '#test/support/run/test-clock.ts';

interface Machine {
  readonly size: number;
}

const json = createJsonModel<Machine>(1);
/** Machines have a row each, of the application `shop`. */
const toModel = (place: RowPlace): CacheModel<Machine> => ({
  ...json,
  rows: {
    views: ['machines'],
    findApplication: () => 'shop',
    listEntries: ({ size }) => [{ place, view: 'machines', row: `size ${size}`, key: 'self' }],
    getNames: () => ({ cluster: 'all', location: 'north' }),
    toValue: ({ size }) => ({ size }),
    findNames: (row) => (row.has('self') ? { cluster: 'all', location: 'north' } : undefined),
  },
});
/** A cache that remembers the names of objects that were read, and the applications that were checked in the directory. */
function watchCache(store: CacheStore) {
  const reads: string[] = [];
  const pruned: string[] = [];
  const cache: CacheStore = {
    ...store,
    getObjects(keys, how) {
      reads.push(...keys.map(({ name }) => name));
      return store.getObjects(keys, how);
    },
    pruneApplication(application, readLeft) {
      pruned.push(application.application);
      return store.pruneApplication(application, readLeft);
    },
  };
  return { cache, reads, pruned };
}

let accounts = 0;

describe('a platform that can only be listed', () => {
  const openTable = useLocalTables();

  function openWorld() {
    accounts += 1;
    const account = `cloud${accounts}`;
    const place = { account, application: 'shop' };
    const model = toModel(place);
    const { tableName, openDocuments } = openTable(cacheTable);
    const clock = createStandingClock();
    const documents = openDocuments();
    const store = createCacheStore({ documents, tableName, clock, randomness: testRandomness, codecs: {} });
    const { cache, reads, pruned } = watchCache(store);
    /** Machines by region; an error for one that cannot be read. */
    const regions = new Map<string, Readonly<Record<string, number>> | Error>();
    let state: string | undefined;
    const platform: ListedPlatform<Machine> = {
      ...{ kind: 'machine', scopeName: 'region', concurrency: 2 },
      plan: async () => ({ scopes: [...regions.keys()] }),
      async list(region) {
        const found = regions.get(region) ?? {};
        if (found instanceof Error) throw found;
        return { objects: Object.entries(found).map(([name, size]) => ({ name, facts: { size } })) };
      },
    };
    const options = { account, cache, platform, model, clock, randomness: testRandomness };
    return {
      account,
      place,
      clock,
      cache,
      regions,
      reads,
      pruned,
      async run({ isAlone = true } = {}): Promise<CachingResult> {
        clock.advance(30_000);
        const result = await runListAgent(
          { ...options, writer: createCacheWriter(options) },
          {
            ...{ cache, state, isAlone, signal: new AbortController().signal },
            ensureHeld() {},
            async commitState() {},
          },
        );
        state = result.state;
        return result;
      },
      /** What an event asks for. */
      async update(scope: string): Promise<number> {
        clock.advance(1);
        const parts = { ...options, writer: createCacheWriter(options) };
        const run = { cache, signal: new AbortController().signal };
        return updateScope(parts, { scope, memory: null }, run);
      },
      async read(): Promise<string[]> {
        const found: string[] = [];
        for await (const page of cache.listObjects(account, 'machine')) {
          for (const object of page)
            found.push(`${object.key.location}/${object.key.name} ${json.decode(object.readBody())?.size}`);
        }
        return found.sort();
      },
    };
  }

  test('is cached by scope, and what is unchanged is neither read nor written again', async () => {
    const { account, place, run, read, reads, regions, cache, clock } = openWorld();
    regions.set('north', { a: 1, b: 2 }).set('south', { a: 3 });
    // It was never listed: that takes a worker of its own.
    expect(await run({ isAlone: false })).toMatchObject({ outcome: 'listing', changes: 0 });
    expect(await run()).toMatchObject({ outcome: 'done', items: 3, changes: 3, asOfMs: clock.now() });
    expect(await read()).toEqual(['north/a 1', 'north/b 2', 'south/a 3']);
    const key = { account, kind: 'machine', location: 'north', name: 'a' };
    const [before] = await cache.getObjects([key]);

    reads.length = 0;
    expect(await run({ isAlone: false })).toMatchObject({ items: 3, changes: 0, asOfMs: clock.now() });
    expect(reads).toEqual([]);
    regions.set('north', { a: 1, b: 9 });
    expect(await run({ isAlone: false })).toMatchObject({ outcome: 'done', items: 3, changes: 1 });
    expect((await cache.getObjects([key]))[0]?.revision).toBe(before?.revision);
    expect(await read()).toEqual(['north/a 1', 'north/b 9', 'south/a 3']);
    const rows = (await Array.fromAsync(cache.listRows(place))).flat().map(({ row }) => row);
    expect(rows.sort()).toEqual(['size 1', 'size 3', 'size 9']);
  });

  test('keeps what is cached of a scope that cannot be read, and evicts what is gone from others', async () => {
    const { run, read, regions } = openWorld();
    regions.set('north', { a: 1 }).set('south', { b: 2 }).set('west', { c: 3 });
    await run();
    regions.set('north', {}).set('south', new FailedOperationError('no answer')).set('west', { c: 4 });
    const second = await run();
    expect(second).toMatchObject({ changes: 2, details: { broken: 'south (no answer)' }, asOfMs: undefined });
    expect(await read()).toEqual(['south/b 2', 'west/c 4']);
    regions.delete('west');
    await run();
    expect(await read()).toEqual(['south/b 2']);
    regions.delete('north');
    await expect(run()).rejects.toThrow('no region can be read: no answer');
    expect(await read()).toEqual(['south/b 2']);
    regions.delete('south');
    await run();
    expect(await read()).toEqual([]);
  });

  test('is compared with the cache each hour, and takes what is gone from the directory', async () => {
    const { account, place, run, read, regions, cache, clock, pruned } = openWorld();
    regions.set('north', { a: 1 });
    await run();
    // Somebody else has cached what never came.
    const key = { account, kind: 'machine', location: 'north', name: 'never' };
    await cache.putObject({
      key,
      revision: toRevision(1, String(clock.now())),
      body: json.encode({ size: 7 }),
    });
    expect(await run()).toMatchObject({ changes: 0 });
    clock.advance(3600_000);
    expect(await run()).toMatchObject({ changes: 1 });
    expect(await read()).toEqual(['north/a 1']);

    regions.set('north', {});
    await run();
    expect(await cache.listAccounts(place.application)).not.toContainEqual(
      expect.objectContaining({ account }),
    );
    // Its name is dropped once no writer can be about to use it.
    expect(pruned).toEqual(['shop']);
    await run();
    expect(pruned).toEqual(['shop']);
    clock.advance(6 * 60_000);
    await run();
    expect(pruned).toEqual(['shop', 'shop']);
  });

  test('is brought up to date by an event, and the next run has nothing left to write', async () => {
    const { run, read, regions, update } = openWorld();
    regions.set('north', { a: 1 });
    await run();
    regions.set('north', { a: 2, b: 2 });
    expect(await update('north')).toBe(2);
    expect(await read()).toEqual(['north/a 2', 'north/b 2']);
    expect(await run()).toMatchObject({ changes: 0, items: 2 });
  });
});
