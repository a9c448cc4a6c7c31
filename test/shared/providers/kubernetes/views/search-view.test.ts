import { describe, expect, test } from 'vitest';
import { type SearchObject, searchObjects } from '#providers/kubernetes/views/search-view.ts';
import type { ViewSearchRequest } from '#views/views.ts';

const shop = { application: 'shop', cluster: 'deployment web' };
const [prod, staging] = [{ account: 'prod' }, { account: 'test', namespace: 'store' }];
const objects: SearchObject[] = [
  { ...prod, kind: 'replicaSet', spinnakerKind: 'serverGroups', namespace: 'Store', name: 'web-1', ...shop },
  { ...prod, kind: 'pod', spinnakerKind: 'instances', namespace: 'store', name: 'web-1-a' },
  { ...staging, kind: 'deployment', spinnakerKind: 'serverGroupManagers', name: 'web', ...shop },
  { ...staging, kind: 'service', spinnakerKind: 'loadBalancers', name: 'front', application: 'shop' },
];
const everything = ['serverGroups', 'instances', 'serverGroupManagers', 'loadBalancers'];

function search(request: Partial<ViewSearchRequest>) {
  return searchObjects(objects, { query: '', types: everything, ...request });
}
const getNames = (request: Partial<ViewSearchRequest>) => search(request).map(({ name }) => name);

describe('finds', () => {
  test.each([
    { query: 'WEB-1', names: ['pod web-1-a', 'replicaSet web-1'] },
    { query: 'replicaset', names: ['replicaSet web-1'] },
    { query: 'pod web', names: ['pod web-1-a'] },
    { query: 'prod', names: ['pod web-1-a', 'replicaSet web-1'] },
    { query: 'prod:store', names: ['pod web-1-a', 'replicaSet web-1'] },
    { query: 'Shop', names: ['service front', 'deployment web', 'replicaSet web-1'] },
    { query: 'deployment web', names: ['deployment web', 'replicaSet web-1'] },
    { query: 'nothing', names: [] },
  ])("'$query': $names", ({ query, names }) => {
    expect(getNames({ query })).toEqual(names);
  });

  test.each([
    { types: ['rs'], names: ['replicaSet web-1'] },
    { types: ['ReplicaSet', 'pod'], names: ['pod web-1-a', 'replicaSet web-1'] },
    { types: ['servergroups'], names: ['replicaSet web-1'] },
    { types: ['applications'], names: ['shop'] },
    { types: ['projects', 'nonsense'], names: [] },
    { types: [], names: [] },
  ])('only the types $types: $names', ({ types, names }) => {
    expect(getNames({ types })).toEqual(names);
  });

  test('clusters of places, beside objects', () => {
    const place = { account: 'prod', application: 'shop', cluster: 'deployment db' };
    const results = searchObjects([...objects, place], {
      query: 'shop',
      types: ['clusters', 'applications'],
    });
    expect(results.map(({ type, name, account }) => [type, name, account])).toEqual([
      ['applications', 'shop', undefined],
      ['clusters', 'deployment db', 'prod'],
      ['clusters', 'deployment web', 'prod'],
      ['clusters', 'deployment web', 'test'],
    ]);
  });

  test('an application by the names of its clusters', () => {
    expect(getNames({ query: 'deployment w', types: ['applications'] })).toEqual(['shop']);
    expect(getNames({ query: 'replicaset', types: ['applications'] })).toEqual([]);
  });

  test('each cluster once an account, whatever is in it', () => {
    const results = search({ query: 'web', types: ['clusters'] });
    expect(results).toHaveLength(2);
    expect(results.map(({ account }) => account)).toEqual(['prod', 'test']);
  });
});
