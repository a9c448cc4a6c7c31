import { describe, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { createJsonModel, createListSource } from '#caching/engine/list-source.ts';
import { runCachingAgent } from '#caching/engine/scoped-run.ts';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { RowPlace } from '#caching/store/cache-store.ts';
import type { CacheModel } from '#caching/writer/cache-model.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { AccessDeniedError, FailedOperationError } from '#core/errors.ts';
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
    const cache = createCacheStore({ documents, tableName, clock, randomness: testRandomness, codecs: {} });
    /** Machines by region; an error for one that cannot be read. */
    const regions = new Map<string, Readonly<Record<string, number>> | Error>();
    let state: string | undefined;
    return {
      account,
      place,
      clock,
      cache,
      regions,
      async run({ isAlone = true, rules = '' } = {}): Promise<CachingResult> {
        clock.advance(30_000);
        const parts = { account, model, clock, randomness: testRandomness };
        const platform = {
          ...{ kinds: ['machine'], locations: [...regions.keys()], rules },
          async list({ location }: { readonly location: string }) {
            const found = regions.get(location) ?? {};
            if (found instanceof Error) throw found;
            return Object.entries(found).map(([name, size]) => ({ name, facts: { size } }));
          },
        };
        const result = await runCachingAgent(
          {
            ...parts,
            source: createListSource(platform, clock),
            writer: createCacheWriter({ ...parts, cache }),
          },
          {
            ...{ cache, state, isAlone, signal: new AbortController().signal },
            ensureHeld() {},
            async commitState() {},
          },
        );
        state = result.state;
        return result;
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

  test('is cached by location, and what is unchanged is not written again', async () => {
    const { account, place, run, read, regions, cache, clock } = openWorld();
    regions.set('north', { a: 1, b: 2 }).set('south', { a: 3 });
    // It was never listed: that takes a worker of its own.
    expect(await run({ isAlone: false })).toMatchObject({ outcome: 'listing', changes: 0 });
    expect(await run()).toMatchObject({ outcome: 'done', items: 3, changes: 3, asOfMs: clock.now() });
    expect(await read()).toEqual(['north/a 1', 'north/b 2', 'south/a 3']);
    const [before] = await cache.getObjects([{ account, kind: 'machine', location: 'north', name: 'a' }]);

    regions.set('north', { a: 1, b: 9 });
    expect(await run({ isAlone: false })).toMatchObject({ outcome: 'done', items: 3, changes: 1 });
    const [after] = await cache.getObjects([{ account, kind: 'machine', location: 'north', name: 'a' }]);
    expect(after?.revision).toBe(before?.revision);
    expect(await read()).toEqual(['north/a 1', 'north/b 9', 'south/a 3']);
    const rows = (await Array.fromAsync(cache.listRows(place))).flat().map(({ row }) => row);
    expect(rows.sort()).toEqual(['size 1', 'size 3', 'size 9']);
  });

  test('keeps what is cached of a location that cannot be read, and evicts what is gone from others', async () => {
    const { run, read, regions } = openWorld();
    regions.set('north', { a: 1 }).set('south', { b: 2 }).set('west', { c: 3 });
    const first = await run();
    regions.set('north', {}).set('south', new FailedOperationError('no answer')).set('west', { c: 4 });
    const second = await run();
    expect(second).toMatchObject({ changes: 2, details: { broken: 'machine: no answer' } });
    expect(second.error).toBeUndefined();
    // As old as the region that failed.
    expect(second.asOfMs).toBe(first.asOfMs);
    expect(await read()).toEqual(['south/b 2', 'west/c 4']);

    regions.set('south', new AccessDeniedError('no'));
    expect(await run()).toMatchObject({ details: { forbidden: 'machine in south' } });
    regions.delete('west');
    await run();
    expect(await read()).toEqual(['south/b 2']);
  });

  test('is listed again in another epoch when the rules change, and cached again once it comes back', async () => {
    const { account, run, read, regions, cache } = openWorld();
    regions.set('north', { a: 1 });
    await run();
    const before = await cache.getEpoch(account);
    await run({ rules: 'other' });
    expect((await cache.getEpoch(account))?.epoch).toBeGreaterThan(before?.epoch ?? 0);
    regions.set('north', {});
    await run({ rules: 'other' });
    expect(await read()).toEqual([]);
    regions.set('north', { a: 1 });
    expect(await run({ rules: 'other' })).toMatchObject({ changes: 1 });
    expect(await read()).toEqual(['north/a 1']);
  });
});
