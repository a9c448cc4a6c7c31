import { describe, expect, test } from 'vitest';
import {
  type SearchObject,
  type SearchRequest,
  searchObjects,
} from '../../../../../shared/providers/kubernetes/views/search-view.ts';

const shop = { application: 'shop', cluster: 'deployment web' };
const objects: SearchObject[] = [
  {
    account: 'prod',
    kind: 'replicaSet',
    spinnakerKind: 'serverGroups',
    namespace: 'Store',
    name: 'web-1',
    ...shop,
  },
  { account: 'prod', kind: 'pod', spinnakerKind: 'instances', namespace: 'store', name: 'web-1-a' },
  {
    account: 'test',
    kind: 'deployment',
    spinnakerKind: 'serverGroupManagers',
    namespace: 'store',
    name: 'web',
    ...shop,
  },
  {
    account: 'test',
    kind: 'service',
    spinnakerKind: 'loadBalancers',
    namespace: 'store',
    name: 'front',
    application: 'shop',
  },
];
const everything = ['serverGroups', 'instances', 'serverGroupManagers', 'loadBalancers'];

function search(request: Partial<SearchRequest>) {
  return searchObjects(objects, { query: '', types: everything, pageNumber: 1, pageSize: 10, ...request });
}
const getNames = (request: Partial<SearchRequest>) => search(request).results.map(({ name }) => name);

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

  test('each cluster once an account, whatever is in it', () => {
    const { results } = search({ query: 'web', types: ['clusters'] });
    expect(results).toHaveLength(2);
    expect(results.map(({ account }) => account)).toEqual(['prod', 'test']);
  });
});

test('pages fit together and tell how many there are on all of them', () => {
  const pages = [1, 2, 3].map((pageNumber) => search({ pageNumber, pageSize: 3 }));
  expect(pages.map(({ totalMatches }) => totalMatches)).toEqual([4, 4, 4]);
  expect(pages.map(({ results }) => results.length)).toEqual([3, 1, 0]);
  expect(pages.flatMap(({ results }) => results)).toEqual(search({}).results);
});
