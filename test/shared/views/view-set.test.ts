import { describe, expect, it } from 'vitest';
import type { Account } from '#accounts/model/account.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { NotFoundError } from '#core/errors.ts';
import { getFound, openViewSet, type ViewSet } from '#views/view-set.ts';
import type { ProjectSpec, ViewKey, ViewReader } from '#views/views.ts';

const cache = {} as CacheStore;

/** A provider whose views tell who was asked. */
function createProvider(name: string, account: string, reader: Partial<ViewReader> = {}) {
  const accounts = [{ name: account } as Account];
  const asked = (what: string) => ({ value: [`${name} ${what}`], accounts: [account] });
  const views: Partial<ViewReader> = {
    async listApplications() {
      return { value: [{ application: 'shop', account, clusters: ['deployment web'] }], accounts: [account] };
    },
    async findApplication(application) {
      const attributes = { name: application, cloudProviders: name };
      const clusters = { [account]: [{ name: 'deployment web' }] };
      return { value: { name: application, attributes, clusters }, accounts: [account] };
    },
    listClusterNames: async () => ({ value: { [account]: ['deployment web'] }, accounts: [account] }),
    listServerGroupsByKeys: async (keys) => ({ value: [...keys], accounts: keys.map((key) => key.account) }),
    findInstance: async () => asked('instance') as never,
    ...reader,
  };
  return { name, accounts, openViews: async () => views as ViewReader };
}

const openBoth = (reader: Partial<ViewReader> = {}, mayRead = (_account: string) => true): Promise<ViewSet> =>
  openViewSet([createProvider('kubernetes', 'prod'), createProvider('aws', 'main', reader)], cache, mayRead);

const key = (account: string): ViewKey => ({ account, location: 'web', name: 'pod x' });

describe('the views of several providers', () => {
  it('are joined, application by application and account by account', async () => {
    const views = await openBoth();
    expect((await views.listApplications()).value.map(({ account }) => account)).toEqual(['prod', 'main']);
    const accounts = ['prod', 'main'];
    const attributes = { name: 'shop', cloudProviders: 'kubernetes,aws' };
    const clusters = { prod: [{ name: 'deployment web' }], main: [{ name: 'deployment web' }] };
    const value = { name: 'shop', attributes, clusters };
    expect(await views.findApplication('shop')).toEqual({ value, accounts });
    const names = { prod: ['deployment web'], main: ['deployment web'] };
    expect(await views.listClusterNames('shop')).toEqual({ value: names, accounts });
  });

  it('have an application that one of them knows', async () => {
    const views = await openBoth({ findApplication: async () => undefined });
    const attributes = { cloudProviders: 'kubernetes' };
    expect((await views.findApplication('shop'))?.value).toMatchObject({ attributes });
  });

  it('are asked for an account where its provider is', async () => {
    const views = await openBoth();

    expect((await views.findInstance(key('main')))?.value).toEqual(['aws instance']);
    expect((await views.findInstance(key('prod')))?.value).toEqual(['kubernetes instance']);
    expect(await views.findInstance(key('absent'))).toBeUndefined();
    expect(await views.listClusters('shop', 'absent')).toEqual({ value: [], accounts: [] });
    expect(await views.listSecurityGroups({ account: 'absent' })).toEqual({ value: {}, accounts: [] });
    expect(await views.listAccountDetails(['absent'])).toEqual(new Map());
    const found = await views.listServerGroupsByKeys([key('main'), key('absent'), key('prod')]);
    expect(found.value).toEqual([key('prod'), key('main')]);
  });

  it('have the clusters of a project in its order', async () => {
    const listProjectClusters = async ({ clusters }: ProjectSpec) => ({
      value: [...clusters],
      accounts: ['main'],
    });
    const parts = [
      createProvider('kubernetes', 'prod', { listProjectClusters }),
      createProvider('aws', 'main', { listProjectClusters }),
    ];
    const views = await openViewSet(parts, cache, () => true);
    const clusters = ['main', 'prod', 'absent', 'main'].map((account) => ({ account, applications: [] }));
    const project = { name: 'all', applications: ['shop'], clusters };
    expect((await views.listProjectClusters(project)).value).toEqual(clusters);
  });

  it('are empty where a cloud provider lacks them', async () => {
    const parts = [{ ...createProvider('aws', 'main'), openViews: async () => ({}) }];
    const views = await openViewSet(parts, cache, () => true);
    const cluster = { application: 'shop', account: 'main', cluster: 'web' };
    const lists = [
      ...[views.listApplications(), views.listServerGroups({ applications: ['shop'], expand: true })],
      ...[views.listServerGroupsByKeys([key('main')]), views.listClusters('shop', 'main')],
      ...[views.listLoadBalancers('shop'), views.search({ query: '', types: [] })],
    ];
    for (const list of await Promise.all(lists)) expect(list).toEqual({ value: [], accounts: [] });
    expect(await views.listClusterNames('shop')).toEqual({ value: {}, accounts: [] });
    expect(await views.listSecurityGroups({ account: 'main' })).toEqual({ value: {}, accounts: [] });
    expect(await views.findCluster(cluster, { expand: true })).toBeUndefined();
    expect(await views.findServerGroup(key('main'))).toBeUndefined();
    expect(await views.listAccountResources('main')).toEqual([]);
  });

  it('can be restricted to one of them', async () => {
    const views = await openBoth();

    expect(views.providers).toEqual(['kubernetes', 'aws']);
    const select = async (id: string | undefined) =>
      (await views.selectProvider(id).listApplications()).value.map(({ account }) => account);
    expect(await select('AWS')).toEqual(['main']);
    expect(await select(undefined)).toEqual(['prod', 'main']);
    expect(await select('gce')).toEqual([]);
  });

  it('do not look into accounts that may not be read', async () => {
    const views = await openBoth({}, (account) => account === 'prod');
    const found = await views.listServerGroupsByKeys([key('prod'), key('main')]);
    expect(found).toMatchObject({ value: [{ account: 'prod' }] });
    expect(await views.findInstance(key('main'))).toBeUndefined();
  });

  it('leave out providers that have none', async () => {
    const views = await openViewSet([{ name: 'artifacts', accounts: [] }], cache, () => true);
    expect(views.providers).toEqual([]);
    expect(await views.listApplications()).toEqual({ value: [], accounts: [] });
  });
});

describe('what was found', () => {
  it('is handed on, and missed in words', () => {
    const viewed = { value: {}, accounts: [] };
    expect(getFound(viewed, 'It is not there')).toBe(viewed);
    expect(() => getFound(undefined, 'It is not there')).toThrow(new NotFoundError('It is not there'));
  });
});
