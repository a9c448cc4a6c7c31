import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createCacheStore } from '../../../../../shared/aws/cache-store.ts';
import { cacheTable } from '../../../../../shared/aws/tables.ts';
import type { CacheStore } from '../../../../../shared/core/cache/cache-store.ts';
import type { ViewReader } from '../../../../../shared/core/views.ts';
import { kubernetesPlugin } from '../../../../../shared/providers/kubernetes/index.ts';
import type { ObjectFacts } from '../../../../../shared/providers/kubernetes/views/facts.ts';
import { useLocalTables } from '../../../../support/local-tables.ts';
import { createTestClock, testRandomness } from '../../../../support/test-clock.ts';
import { openProvider } from '../provider-setup.ts';
import { fillCache } from './cached-facts.ts';

const folder = path.join(import.meta.dirname, '../../../../fixtures/kubernetes/views');
const account = 'prod-eu';
const open = useLocalTables();

function openCache(): CacheStore {
  const { tableName, openDocuments } = open(cacheTable);
  const codecs = kubernetesPlugin.rowCodecs ?? {};
  return createCacheStore({
    documents: openDocuments(),
    tableName,
    clock: createTestClock(),
    randomness: testRandomness,
    codecs,
  });
}

async function readGolden<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(path.join(folder, `${name}.golden.json`), 'utf8')) as T;
}

describe('views of the shop', () => {
  let reader: ViewReader;

  beforeAll(async () => {
    const cache = openCache();
    await fillCache(cache, account, await readGolden<ObjectFacts[]>('facts'));
    const provider = openProvider([{ name: account, kubeconfigContents: '{}' }]);
    const views = await provider.openViews?.(cache);
    if (views === undefined) throw new Error('no views');
    reader = views;
  });

  const listServerGroups = (application: string, expand = false) =>
    reader.listServerGroups({ applications: [application], expand });

  test('server groups', async () => {
    expectSame(await listServerGroups('shop'), await readGolden('server-groups'));
    expectSame(await listServerGroups('shop', true), await readGolden('server-groups-expanded'));
    expectSame(await listServerGroups('legacy'), await readGolden('server-groups-unmanaged'));
  });

  test('load balancers', async () => {
    expectSame(await reader.listLoadBalancers('shop'), await readGolden('load-balancers'));
    expectSame(await reader.listLoadBalancers('legacy'), await readGolden('load-balancers-unmanaged'));
  });
});

function expectSame({ value }: { value: unknown }, golden: unknown): void {
  expect(order(JSON.parse(JSON.stringify(value)))).toEqual(order(golden));
}

function order(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const text = (one: unknown) => JSON.stringify(one && (one as { name: string }).name);
  return value.map(order).sort((one, other) => (text(one) < text(other) ? -1 : 1));
}
