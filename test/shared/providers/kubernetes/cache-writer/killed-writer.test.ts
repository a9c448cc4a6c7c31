import { describe, expect, test } from 'vitest';
import { evict } from '#caching/engine/scope-reader.ts';
import { unusedNameRetentionMs } from '#caching/store/recorded-names.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { newAccount, v } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { replicaSet } from '../caching/small-cluster.ts';
import { openWriter, put, type WriterBench } from '../caching/written-cache.ts';

const tables = useLocalTables();

const before = replicaSet('cart-v001');
const written = replicaSet('shelf-v001', { app: 'cart' });

/** The account's next list, and what an agent does with its outcome. */
async function list({ account, store, writer, clock }: WriterBench, objects: readonly ObjectFacts[]) {
  const { waiting } = await writer.write(
    objects.map((each) => put(each, Number(each.resourceVersion || 1), 20)),
  );
  const names = new Set(objects.map(({ name }) => name));
  const left = new Set(waiting);
  const signal = new AbortController().signal;
  const write = async (changes: Parameters<typeof writer.write>[0]): Promise<void> => {
    for (const application of (await writer.write(changes)).waiting) left.add(application);
  };
  await evict(
    { account, cache: store, signal, write },
    { kind: 'replicaSet', findEviction: ({ key }) => (names.has(key.name) ? undefined : v(20)) },
  );
  clock.advance(unusedNameRetentionMs);
  await writer.prune([...left]);
}

/** A cache with one object, and a writer of another one that dies over a call. @returns how many calls it made */
async function dieWriting(bench: WriterBench, dies: (call: number) => boolean): Promise<number> {
  await bench.writer.write([put(before, 1)]);
  const dying = openWriter(tables(cacheTable), bench.account, { clock: bench.clock });
  const calls = killAt(dying.documents, dies);
  const { kind, namespace, name } = written;
  await dying.writer.expect({ kind, location: namespace, name, facts: written }).catch(() => undefined);
  await dying.writer.write([put(written, 5)]).catch(() => undefined);
  return calls.made;
}

/** What is cached, and the rows of the application whether or not the directory has it. */
async function read({ account, store, read }: WriterBench) {
  const pages = store.listRows({ account, application: 'cart' }, { consistent: true });
  const rows = (await Array.fromAsync(pages)).flat().map(({ row }) => row);
  return { listed: await read(), rows: rows.sort() };
}

/** Has a client's calls fail, as when its process is killed before they are sent. */
function killAt(documents: StoreTestClient, dies: (call: number) => boolean): { made: number } {
  const calls = { made: 0 };
  documents.middlewareStack.add((next) => async (args) => {
    calls.made += 1;
    if (dies(calls.made)) throw new Error('the writer is dead');
    return next(args);
  });
  return calls;
}

describe('a writer that is killed', () => {
  const open = (): WriterBench => openWriter(tables(cacheTable), newAccount());
  const listed = { ...before, resourceVersion: '1' };
  const still = { ...written, resourceVersion: '5' };

  test.each([
    ['the object is still there', [listed, still]],
    ['the object is gone again', [listed]],
    ['all is gone', []],
  ])('is made up for by the next list, whatever call it did not make: %s', async (_, objects) => {
    const whole = open();
    await list(whole, objects);
    const expected = await read(whole);
    const count = await dieWriting(open(), () => false);
    expect(count).toBeGreaterThan(5);
    for (let first = 1; first <= count; first += 1) {
      // Of calls that are made at once each may be the one that does not arrive.
      for (const dies of [(call: number) => call >= first, (call: number) => call === first]) {
        const bench = open();
        await dieWriting(bench, dies);
        await list(bench, objects);
        expect(await read(bench), `call ${first} of ${count}`).toEqual(expected);
      }
    }
  });
});
