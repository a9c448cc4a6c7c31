import { expect, test } from 'vitest';
import { createConsistentCache } from '#caching/store/request-cache.ts';
import { countRequests, newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createManifest } from '../manifests.ts';
import { createReplicaSet, createSampleDeployment } from '../views/sample-manifests.ts';
import { location, openAccount, openCachedAccounts } from './cached-accounts.ts';

const open = useLocalTables();
const cluster = { 'moniker.spinnaker.io/cluster': 'deployment web' };
const workloads = [createSampleDeployment('web', cluster), createReplicaSet('web-1')];

test('names of clusters cost one query, whatever there is of them', async () => {
  const { reader, documents, account } = await openAccount(open, { objects: workloads });
  const requests = countRequests(documents);
  const { value, accounts } = await reader.listClusterNames('shop');
  expect([value, accounts]).toMatchObject([
    { [account]: ['deployment web'] },
    expect.arrayContaining([account]),
  ]);
  expect(requests.take()).toEqual({ Query: 1 });
  expect((await reader.findApplication('shop'))?.value.clusters[account]).toHaveLength(1);
  expect(requests.take()).toEqual({ Query: 1 });
});

test('where an application has no load balancer nothing is read that might be behind one', async () => {
  const { reader, documents } = await openAccount(open, { objects: workloads });
  const requests = countRequests(documents);
  expect((await reader.listLoadBalancers('shop')).value).toEqual([]);
  // The directory, and the rows of load balancers.
  expect(requests.take()).toEqual({ Query: 2 });
});

test('what managers may own is looked for in their namespaces alone', async () => {
  const { reader, documents } = await openAccount(open, { objects: workloads });
  const prefixes = noteInputs(documents, 'ExpressionAttributeValues');
  expect((await reader.listServerGroupManagers('shop')).value).toHaveLength(1);
  const outside = prefixes.filter((values) => JSON.stringify(values).includes(':application'));
  expect(outside).toMatchObject([{ ':prefix': { S: `${location}#` } }]);
});

test('a search for applications and clusters reads the directory alone, whatever is cached', async () => {
  const { reader, documents, account } = await openAccount(open, { objects: workloads });
  const requests = countRequests(documents);
  const { value } = await reader.search({ query: 'WEB', types: ['Applications', 'clusters'] });
  const found = value.filter((find) => find.account === undefined || find.account === account);
  expect(found.map(({ name }) => name)).toEqual(['shop', 'deployment web']);
  expect(requests.take()).toEqual({ Query: 1 });
  expect((await reader.search({ query: 'web', types: ['projects'] })).value).toEqual([]);
  expect(requests.take()).toEqual({});
});

test('namespaces of one account cost one read, those of many accounts one query', async () => {
  const accounts = Array.from({ length: 5 }, newAccount);
  const { reader, documents, write } = await openCachedAccounts(
    open,
    accounts.map((name) => ({ name })),
  );
  for (const [index, name] of accounts.entries()) {
    const namespaces = ['b', `a${index}`].map((own) => createManifest('v1', 'Namespace', { name: own }));
    await write(name, [...namespaces, ...workloads]);
  }
  const requests = countRequests(documents);
  const expected = accounts.map((name, index) => [name, { namespaces: [`a${index}`, 'b'] }] as const);
  expect(await reader.listAccountDetails(accounts)).toEqual(new Map(expected));
  expect(requests.take()).toEqual({ Query: 1 });
  expect(await reader.listAccountDetails(accounts.slice(1, 2))).toEqual(new Map(expected.slice(1, 2)));
  expect(requests.take()).toEqual({ GetItem: 1 });
});

test('who demands fresh data reads the directory consistently', async () => {
  const { cache, documents, account } = await openAccount(open, { objects: workloads });
  const consistent = noteInputs(documents, 'ConsistentRead');
  const listed = await createConsistentCache(cache).listAccounts('shop');
  expect(listed.map((entry) => entry.account)).toContain(account);
  await createConsistentCache(cache).listApplications();
  await cache.listAccounts('shop');
  expect(consistent).toEqual([true, true, false]);
});

/** A member of each request from now on. */
function noteInputs(documents: StoreTestClient, member: string): unknown[] {
  const noted: unknown[] = [];
  documents.middlewareStack.add(
    (next) => async (args) => {
      noted.push(Reflect.get(args.input, member));
      return next(args);
    },
    { step: 'initialize', name: `note ${member}` },
  );
  return noted;
}
