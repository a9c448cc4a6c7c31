import { describe, expect, it } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import { type MergeName, merges } from '#upstream/merges.ts';

const owns = (account: string) => account === 'k8s' || account === 'broken';
const leaves = (account: string) => account === 'kept';

/** Both answers, and what becomes of them. `k8s` is ours on both sides, and `broken` is ours, but not in our answer. */
const cases: readonly (readonly [
  merge: MergeName,
  answers: { readonly ours: JsonValue | undefined; readonly theirs: JsonValue; readonly merged: JsonValue },
])[] = [
  [
    'list',
    {
      ours: [{ account: 'k8s', name: 'a' }],
      theirs: [{ account: 'k8s', name: 'old' }, { accountName: 'broken' }, { account: 'ec2' }, 'else'],
      merged: [{ account: 'k8s', name: 'a' }, { account: 'ec2' }, 'else'],
    },
  ],
  ['list', { ours: undefined, theirs: [{ account: 'ec2' }], merged: [{ account: 'ec2' }] }],
  [
    'named',
    {
      ours: [{ name: 'k8s' }],
      theirs: [{ name: 'k8s', old: true }, { name: 'broken' }, { name: 'ec2' }],
      merged: [{ name: 'k8s' }, { name: 'ec2' }],
    },
  ],
  [
    'accountMap',
    {
      ours: { k8s: ['deployment a'] },
      theirs: { k8s: ['old'], broken: ['old'], ec2: ['app-main'] },
      merged: { k8s: ['deployment a'], ec2: ['app-main'] },
    },
  ],
  [
    'application',
    {
      ours: {
        ...{ name: 'app', attributes: { name: 'app', cloudProviders: 'kubernetes' } },
        clusters: { k8s: [{ name: 'deployment a' }] },
      },
      theirs: {
        ...{ name: 'app', attributes: { name: 'app', email: 'a@b', cloudProviders: 'aws,kubernetes' } },
        clusters: { k8s: [{ name: 'old' }], ec2: [{ name: 'app-main' }] },
      },
      merged: {
        ...{ name: 'app', attributes: { name: 'app', email: 'a@b', cloudProviders: 'kubernetes,aws' } },
        clusters: { k8s: [{ name: 'deployment a' }], ec2: [{ name: 'app-main' }] },
      },
    },
  ],
  [
    'applications',
    {
      ours: [{ name: 'b', attributes: { name: 'b' }, clusterNames: { k8s: ['x'] } }],
      theirs: [
        { name: 'a', attributes: { name: 'a' }, clusterNames: { ec2: ['a'] } },
        { name: 'b', attributes: { name: 'b' }, clusterNames: { k8s: ['old'], ec2: ['b'] } },
        { name: 'deleted here', attributes: {}, clusterNames: { k8s: ['old'] } },
        { name: 'empty', attributes: {}, clusterNames: {} },
      ],
      merged: [
        { name: 'a', attributes: { name: 'a' }, clusterNames: { ec2: ['a'] } },
        { name: 'b', attributes: { name: 'b' }, clusterNames: { k8s: ['x'], ec2: ['b'] } },
        { name: 'empty', attributes: {}, clusterNames: {} },
      ],
    },
  ],
  [
    'artifactAccounts',
    {
      ours: [{ name: 'x', types: ['helm/chart', 'helm/index'] }],
      theirs: [
        { name: 'x', types: ['helm/index'] },
        { name: 'x', types: ['gcs/object'] },
      ],
      merged: [
        { name: 'x', types: ['helm/chart', 'helm/index'] },
        { name: 'x', types: ['gcs/object'] },
      ],
    },
  ],
  [
    'projectClusters',
    {
      ours: [
        { account: 'k8s', applications: [{ application: 'a' }] },
        { account: 'ec2', applications: [] },
      ],
      theirs: [
        { account: 'k8s', applications: [] },
        { account: 'ec2', applications: [{ application: 'b' }] },
      ],
      merged: [
        { account: 'k8s', applications: [{ application: 'a' }] },
        { account: 'ec2', applications: [{ application: 'b' }] },
      ],
    },
  ],
  [
    'search',
    {
      ours: [
        {
          ...{ pageNumber: 1, platform: 'kubernetes', totalMatches: 2 },
          results: [
            { type: 'applications', application: 'a' },
            { type: 'serverGroups', account: 'k8s', name: 'replicaSet a' },
          ],
        },
      ],
      theirs: [
        {
          ...{ pageNumber: 1, platform: 'aws', totalMatches: 30 },
          results: [
            { type: 'applications', application: 'a' },
            { type: 'serverGroups', account: 'k8s', name: 'old' },
            { type: 'serverGroups', account: 'ec2', name: 'a-v001' },
          ],
        },
      ],
      merged: [
        {
          ...{ pageNumber: 1, platform: 'kubernetes', totalMatches: 30 },
          results: [
            { type: 'applications', application: 'a' },
            { type: 'serverGroups', account: 'k8s', name: 'replicaSet a' },
            { type: 'serverGroups', account: 'ec2', name: 'a-v001' },
          ],
        },
      ],
    },
  ],
];

describe('a merged answer', () => {
  it.each(cases)('%s: takes accounts of ours from here, and all others from there', (merge, answers) => {
    const { ours, theirs, merged } = answers;
    expect(merges[merge]({ ours, theirs, owns, leaves })).toEqual(merged);
  });

  it.each<[MergeName, JsonValue, JsonValue]>([
    ['accounts', [{ name: 'k8s' }, { name: 'kept' }], [{ name: 'k8s' }]],
    ['agents', [{ account: 'kept' }], [{ account: 'kept' }]],
    ['list', [{ account: 'k8s' }, { account: 'kept' }, {}], [{ account: 'k8s' }, {}]],
    ['accountMap', { k8s: 1, kept: 2 }, { k8s: 1 }],
    ['application', { clusters: { k8s: 1, kept: 2 } }, { attributes: {}, clusters: { k8s: 1 } }],
    [
      'search',
      [{ totalMatches: 2, results: [{ account: 'kept' }, { account: 'k8s' }] }],
      [{ totalMatches: 1, results: [{ account: 'k8s' }] }],
    ],
  ])('%s: takes nothing from here of an account that is left upstream', (merge, ours, merged) => {
    expect(merges[merge]({ ours, theirs: merge === 'application' ? {} : [], owns, leaves })).toEqual(merged);
  });

  it.each(Object.keys(merges) as MergeName[])('%s: survives an answer of another shape', (merge) => {
    for (const theirs of [null, 'text', 3, [null, 'text', [3]], { k8s: null, ec2: 3 }]) {
      expect(() => JSON.stringify(merges[merge]({ ours: undefined, theirs, owns, leaves }))).not.toThrow();
    }
  });
});
