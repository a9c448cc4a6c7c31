import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { toWriterOptions } from '#providers/kubernetes/cache-writer/cache-model.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import {
  object,
  pod,
  registry,
  replicaSet,
  service,
} from '#test/shared/providers/kubernetes/caching/small-cluster.ts';
import { put } from '#test/shared/providers/kubernetes/caching/written-cache.ts';
import { type CachedRuntime, startCachedRuntime } from '#test/support/cluster/cached-runtime.ts';

const created = (facts: ObjectFacts, createdTime: number): ObjectFacts => ({ ...facts, createdTime });
const cart = { app: 'cart', cluster: 'deployment cart' };
const owned = (facts: ObjectFacts): ObjectFacts => ({
  ...facts,
  owners: [{ kind: 'deployment', name: 'cart', uid: 'uid of cart', isManager: true }],
});

/** Three versions of a cluster, one more in another namespace, and a server group of another application. */
const objects: readonly ObjectFacts[] = [
  created(object('deployment', 'cart', cart), 500),
  ...[1, 2, 3].map((n) => created(owned(replicaSet(`cart-v00${n}`, cart)), n * 1000)),
  pod('cart-v002-a', 'cart-v002', cart),
  pod('cart-v002-b', 'cart-v002', cart),
  pod('cart-v003-a', 'cart-v003', cart),
  { ...service('cart', { app: 'cart' }), service: { selector: { app: 'cart-v003' } } },
  created(replicaSet('cart-v009', { ...cart, uid: 'uid of another', namespace: 'canary' }), 9000),
  created(replicaSet('bill-v001', { app: 'billing', cluster: 'replicaSet bill' }), 100),
];

let runtime: CachedRuntime;

beforeAll(async () => {
  runtime = await startCachedRuntime(['prod', 'dev']);
  const account = { name: 'prod', kindRegistry: registry, caching: { allApplicationRelationships: false } };
  const parts = { clock: systemClock, randomness: systemRandomness };
  const writer = createCacheWriter(toWriterOptions({ cache: runtime.cache, account, ...parts }));
  await writer.write(objects.map((facts, index) => put(facts, index + 1)));
});

afterAll(() => runtime[Symbol.asyncDispose]());

interface Named {
  readonly name: string;
  readonly region: string;
}

const getJson = async <T = unknown>(path: string): Promise<T> => {
  const answer = await runtime.get(path);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`GET ${path.slice(0, 200)}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
};

/** Names of what a path lists, with their namespaces, sorted. */
const list = async (path: string): Promise<string[]> =>
  (await getJson<Named[]>(path)).map(({ name, region }) => `${region} ${name}`).sort();

/** Status and message of an error. */
const fail = async (path: string): Promise<[number, unknown]> => {
  const answer = await runtime.get(path);
  const { message, errors } = (await answer.json()) as { message: string; errors?: string[] };
  return [answer.status, errors ?? message];
};

const expectMissing = async (path: string, message: string): Promise<void> =>
  expect(await fail(path)).toEqual([404, message]);

const three = ['replicaSet cart-v001', 'replicaSet cart-v002', 'replicaSet cart-v003'];
const all = ['canary replicaSet cart-v009', ...three.map((name) => `shop ${name}`)];

describe('applications', () => {
  it('are listed with their clusters', async () => {
    expect(await getJson('/applications?restricted=false&expand=true')).toEqual([
      { name: 'billing', attributes: { name: 'billing' }, clusterNames: { prod: ['replicaSet bill'] } },
      { name: 'cart', attributes: { name: 'cart' }, clusterNames: { prod: ['deployment cart'] } },
    ]);
    expect((await fail('/applications?expand=some'))[0]).toBe(400);
  });

  it('have a page with their clusters', async () => {
    expect(await getJson('/applications/cart')).toEqual({
      name: 'cart',
      attributes: { name: 'cart', cloudProviders: 'kubernetes' },
      clusters: {
        prod: [{ name: 'deployment cart', provider: 'kubernetes', loadBalancers: [], serverGroups: [] }],
      },
    });
    await expectMissing('/applications/absent', 'Application does not exist (name: absent)');
  });
});

describe('clusters', () => {
  it('are listed by name, by account', async () => {
    expect(await getJson('/applications/cart/clusters')).toEqual({ prod: ['deployment cart'] });
    expect(await getJson('/applications/absent/clusters')).toEqual({});
  });

  it('of an account are told in short', async () => {
    const list = '/applications/cart/clusters/prod';
    const [cluster, ...others] = await getJson<{ serverGroups: string[] }[]>(list);
    expect(others).toEqual([]);
    expect(cluster).toMatchObject({
      name: 'deployment cart',
      account: 'prod',
      moniker: { app: 'cart', cluster: 'deployment cart' },
      loadBalancers: ['service cart'],
    });
    expect(cluster?.serverGroups.toSorted()).toEqual(all.map((name) => name.replace(/^\w+ /, '')).sort());
    for (const account of ['dev', 'nobody']) {
      const message = `No clusters found (application: cart, account: ${account})`;
      await expectMissing(`/applications/cart/clusters/${account}`, message);
    }
  });

  const path = '/applications/cart/clusters/prod/deployment%20cart';

  it('are one, in a list or by their provider, expanded unless that is not wanted', async () => {
    const [cluster] = await getJson<{ serverGroups: Named[]; loadBalancers: Named[] }[]>(path);
    expect(cluster?.serverGroups).toHaveLength(4);
    expect(cluster?.loadBalancers.map(({ name }) => name)).toEqual(['service cart']);
    expect(await getJson(`${path}/kubernetes`)).toEqual(cluster);
    const small = { ...cluster, serverGroups: [], loadBalancers: [] };
    expect(await getJson(`${path}?expand=false`)).toEqual([small]);
    expect(await getJson(`${path}/Kubernetes?expand=false`)).toEqual(small);
    const message = "Query parameter 'expand' must be true or false, not 'perhaps'";
    expect(await fail(`${path}?expand=perhaps`)).toEqual([400, [message]]);
  });

  it('that are not there are told apart from providers that are not', async () => {
    const absent = '/applications/cart/clusters/prod/deployment%20absent';
    const place = 'application: cart, account: prod';
    await expectMissing(absent, `Cluster not found (${place}, name: deployment absent)`);
    await expectMissing(`${absent}/kubernetes`, `No clusters found (${place}, type: kubernetes)`);
    const message = `No provider of type aws has clusters (${place}, cluster: deployment cart)`;
    await expectMissing(`${path}/aws`, message);
  });

  it('have server groups, of one namespace where one is named', async () => {
    expect(await list(`${path}/kubernetes/serverGroups`)).toEqual(all);
    expect(await list(`${path}/kubernetes/serverGroups?region=canary`)).toEqual(all.slice(0, 1));
    expect(await list(`${path}/kubernetes/serverGroups?expand=false`)).toEqual([]);
    expect(await list(`${path}/kubernetes/loadBalancers`)).toEqual(['shop service cart']);
  });

  it('have a server group: alone with its namespace, in a list without', async () => {
    const one = `${path}/kubernetes/serverGroups/replicaSet%20cart-v003`;
    const alone = await getJson<Named>(`${one}?region=shop`);
    expect([alone.name, alone.region]).toEqual(['replicaSet cart-v003', 'shop']);
    expect(await getJson(one)).toEqual([alone]);
    const message = 'Server group not found (account: prod, name: replicaSet cart-v003, type: kubernetes)';
    await expectMissing(`${one}?region=canary`, message);
  });

  it.each([
    ['current_asg_dynamic', 'replicaSet cart-v003'],
    ['NEWEST', 'replicaSet cart-v003'],
    ['previous_asg', 'replicaSet cart-v002'],
    ['ancestor', 'replicaSet cart-v002'],
    ['oldest', 'replicaSet cart-v001'],
    ['Largest', 'replicaSet cart-v002'],
  ])('have a target %s: %s', async (target, name) => {
    const found = `${path}/kubernetes/shop/serverGroups/target/${target}`;
    expect(await getJson(found)).toMatchObject({ name, region: 'shop', accountName: 'prod' });
    const summary = { serverGroupName: name.split(' ')[1], buildInfo: { images: ['cart:1'] } };
    expect(await getJson(`${found}/images`)).toEqual({ summaries: [summary] });
    expect(await getJson(`${found}/Image`)).toEqual(summary);
  });

  it('have no target where none is meant', async () => {
    const canary = `${path}/kubernetes/canary/serverGroups/target`;
    expect(await getJson(`${canary}/oldest?validateOldest=false`)).toMatchObject({ region: 'canary' });
    expect(await getJson(`${canary}/fail`)).toMatchObject({ region: 'canary' });
    for (const target of ['canary/serverGroups/target/oldest', 'shop/serverGroups/target/fail']) {
      expect((await fail(`${path}/kubernetes/${target}`))[0]).toBe(404);
    }
    expect(await fail(`${canary}/best`)).toEqual([404, expect.stringContaining("got 'best'")]);
    await expectMissing(`${canary}/current/colours`, 'Summary not found (type: colours)');
    expect((await fail(`${canary}/current?onlyEnabled=maybe`))[0]).toBe(400);
  });
});

describe('server groups', () => {
  const path = '/applications/cart/serverGroups';

  it('of an application are told in short, or expanded', async () => {
    expect(await list(path)).toEqual(all);
    expect(await list(`${path}?cloudProvider=KUBERNETES&expand=true`)).toEqual(all);
    expect(await list(`${path}?cloudProvider=aws`)).toEqual([]);
    expect(await list('/applications/absent/serverGroups')).toEqual([]);
    const find = async (from: string) =>
      (await getJson<Named[]>(from)).find(({ name }) => name.endsWith('v003'));
    expect(await find(path)).toMatchObject({ isDisabled: false, loadBalancers: ['service cart'] });
    const expanded = { accountName: 'prod', cluster: 'deployment cart', application: 'cart' };
    expect(await find(`${path}?expand=true`)).toMatchObject(expanded);
  });

  it('are those of some clusters where these are named, and none for none', async () => {
    const named = encodeURIComponent('dev:deployment cart,prod:deployment cart,prod:other,nonsense');
    expect(await list(`${path}?clusters=${named}`)).toEqual(all);
    expect(await list(`${path}?expand=true&cloudProvider=aws&clusters=${named}`)).toEqual(all);
    expect(await list(`${path}?clusters=prod:other`)).toEqual([]);
    expect(await list(`${path}?clusters=`)).toEqual([]);
  });

  it('take as many clusters as Deck names', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `prod:replicaSet none-${index}`);
    const query = encodeURIComponent([...names, 'prod:deployment cart'].join(','));
    expect(await list(`${path}?clusters=${query}`)).toEqual(all);
  });

  it('are found one by one, whatever application is named', async () => {
    const one = await getJson<Named>('/serverGroups/prod/shop/replicaSet%20cart-v002');
    expect(one).toMatchObject({ name: 'replicaSet cart-v002', instances: [{}, {}], disabled: false });
    for (const application of ['cart', 'billing']) {
      const found = `/applications/${application}/serverGroups/prod/shop/replicaSet%20cart-v002?includeDetails=false`;
      expect(await getJson(found)).toEqual(one);
    }
    for (const absent of ['prod/canary/replicaSet%20cart-v002', 'dev/shop/x', 'nobody/shop/replicaSet%20x']) {
      const [account, region, name] = absent.split('/').map(decodeURIComponent);
      const message = `Server group not found (account: ${account}, region: ${region}, name: ${name})`;
      await expectMissing(`/serverGroups/${absent}`, message);
    }
    expect((await fail('/serverGroups/prod/shop/replicaSet%20x?includeDetails=some'))[0]).toBe(400);
  });

  it('are those of several applications, or of a list', async () => {
    const bill = 'shop replicaSet bill-v001';
    expect(await list('/serverGroups?applications=cart,billing,absent')).toEqual([...all, bill].sort());
    const ids = [
      'prod:shop:replicaSet bill-v001',
      'dev:shop:replicaSet bill-v001',
      'prod:canary:replicaSet cart-v009',
    ];
    const named = await list(`/serverGroups?ids=${encodeURIComponent(ids.join())}`);
    expect(named).toEqual(['canary replicaSet cart-v009', bill]);
    const both = "Provide either the parameter 'applications' or 'ids', and not both";
    for (const query of ['', '?applications=', '?applications=cart&ids=a:b:c']) {
      expect(await fail(`/serverGroups${query}`)).toEqual([400, [both]]);
    }
    const short = 'ids: expected account:region:name, got prod:shop';
    expect(await fail('/serverGroups?ids=a:b:c,prod:shop')).toEqual([400, [short]]);
  });

  it('have managers', async () => {
    const managers = '/applications/cart/serverGroupManagers';
    const [manager, ...others] = await getJson<{ serverGroups: Named[] }[]>(managers);
    expect(others).toEqual([]);
    expect(manager).toMatchObject({ name: 'deployment cart', account: 'prod', region: 'shop' });
    expect(manager?.serverGroups.map(({ name }) => name).sort()).toEqual(three);
    expect(await getJson('/applications/absent/serverGroupManagers')).toEqual([]);
  });
});
