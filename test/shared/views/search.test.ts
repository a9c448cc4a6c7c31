import { describe, expect, it } from 'vitest';
import type { Catalog } from '#views/catalog.ts';
import { type SearchRequest, type SearchSources, search } from '#views/search.ts';
import type { ViewSearchRequest } from '#views/views.ts';

const request: SearchRequest = {
  query: 'cart',
  types: ['applications', 'projects', 'serverGroups'],
  platform: undefined,
  pageNumber: 1,
  pageSize: 100,
  filters: new Map(),
};

const serverGroup = (name: string, account = 'prod') => ({
  provider: 'kubernetes',
  type: 'serverGroups',
  group: 'replicaSet',
  name: `replicaSet ${name}`,
  account,
});
const cached = [
  { provider: 'kubernetes', type: 'applications', group: 'applications', name: 'cart', application: 'cart' },
  serverGroup('cart-v001'),
  serverGroup('cart-v002', 'test'),
];

const project = {
  id: '5a1e',
  name: 'Checkout',
  attributes: { id: '5a1e', name: 'Checkout', email: 'checkout@example.com' },
  applications: ['cart', 'pay'],
  clusters: [],
};
const catalog: Pick<Catalog, 'listApplications' | 'listProjects'> = {
  listApplications: async () => ({
    applications: [
      { name: 'CART', attributes: { name: 'CART', email: 'cart@example.com' } },
      { name: 'CARTOON', attributes: { name: 'CARTOON' } },
      { name: 'PAY', attributes: { name: 'PAY' } },
    ],
    isCurrent: true,
  }),
  listProjects: async () => [project],
};

const asked: ViewSearchRequest[] = [];
const reader = {
  providers: ['kubernetes'],
  async search(wanted: ViewSearchRequest) {
    asked.push(wanted);
    return { value: cached, accounts: ['prod', 'test'] };
  },
};
const nobody = { providers: [], search: async () => ({ value: [], accounts: [] }) };
const views = {
  providers: ['kubernetes'],
  selectProvider: (id: string | undefined) => (id === undefined || id === 'kubernetes' ? reader : nobody),
} as unknown as SearchSources['views'];

async function find(changes: Partial<SearchRequest> = {}, sources: Partial<SearchSources> = {}) {
  const { value, accounts } = await search(
    { ...request, ...changes },
    { views, catalog, mayRead: () => true, ...sources },
  );
  const [set] = value;
  if (set === undefined || value.length > 1) throw new Error(`${value.length} result sets`);
  return { ...set, accounts, names: set.results.map(({ name }) => name) };
}

describe('a search', () => {
  it('finds what is cached and what Front50 has, by type and name, each application once', async () => {
    const { results, ...set } = await find();

    expect(set).toEqual({
      totalMatches: 5,
      pageNumber: 1,
      pageSize: 100,
      platform: 'aws',
      query: 'cart',
      accounts: ['prod', 'test'],
      names: ['cart', 'cartoon', 'Checkout', 'replicaSet cart-v001', 'replicaSet cart-v002'],
    });
    expect(results[0]).toEqual({ ...cached[0], email: 'cart@example.com', url: '/applications/cart' });
    expect(results[1]).toEqual({
      type: 'applications',
      name: 'cartoon',
      application: 'cartoon',
      url: '/applications/cartoon',
    });
    expect(results[2]).toEqual({
      ...project.attributes,
      type: 'projects',
      applications: ['cart', 'pay'],
      url: '/projects/5a1e',
    });
    expect(asked.at(-1)).toEqual({ query: 'cart', types: request.types });
  });

  it('asks Front50 only for the types that are wanted, in any case', async () => {
    expect((await find({ query: 'CHECK', types: ['Projects'] })).names).toContain('Checkout');
    expect((await find({ types: ['serverGroups'] })).names).not.toContain('Checkout');
    expect((await find({ types: ['serverGroups'] })).names).not.toContain('cartoon');
  });

  it('answers a page, and counts all pages', async () => {
    expect(await find({ pageNumber: 2, pageSize: 2 })).toMatchObject({
      totalMatches: 5,
      pageNumber: 2,
      pageSize: 2,
      names: ['Checkout', 'replicaSet cart-v001'],
    });
    expect((await find({ pageNumber: 9 })).names).toEqual([]);
  });

  it('leaves out what has another value than a filter, in any case', async () => {
    expect((await find({ filters: new Map([['account', 'PROD']]) })).names).toEqual([
      'cart',
      'cartoon',
      'Checkout',
      'replicaSet cart-v001',
    ]);
    expect((await find({ filters: new Map([['applications', 'other']]) })).totalMatches).toBe(5);
    expect((await find({ filters: new Map([['constructor', 'x']]) })).totalMatches).toBe(5);
  });

  it.each([
    ['kubernetes', ['cart', 'replicaSet cart-v001', 'replicaSet cart-v002']],
    ['front50', ['cart', 'cartoon', 'Checkout']],
    ['elsewhere', []],
  ])('of the platform %s finds what that has', async (platform, names) => {
    expect(await find({ platform })).toMatchObject({ platform, names, totalMatches: names.length });
  });

  it('does without Front50', async () => {
    expect(await find({}, { catalog: undefined })).toMatchObject({ platform: 'kubernetes', totalMatches: 3 });
  });
});
