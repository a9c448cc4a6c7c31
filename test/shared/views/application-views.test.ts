import { expect, test } from 'vitest';
import { toApplicationViews } from '#views/application-views.ts';

test('shows applications by name, in any case, with the clusters of all providers, each once', () => {
  const views = toApplicationViews([
    { application: 'shop', account: 'prod', clusters: ['deployment web', 'deployment cart'] },
    { application: 'Mail', account: 'prod', clusters: ['job sweep'] },
    { application: 'shop', account: 'prod', clusters: ['deployment web'] },
    { application: 'billing', account: 'prod', clusters: ['job bill'] },
    { application: 'shop', account: 'dev', clusters: ['replicaSet web'] },
  ]);

  expect(JSON.stringify(views)).toBe(
    JSON.stringify([
      { name: 'billing', attributes: { name: 'billing' }, clusterNames: { prod: ['job bill'] } },
      { name: 'Mail', attributes: { name: 'Mail' }, clusterNames: { prod: ['job sweep'] } },
      {
        name: 'shop',
        attributes: { name: 'shop' },
        clusterNames: { dev: ['replicaSet web'], prod: ['deployment cart', 'deployment web'] },
      },
    ]),
  );
  expect(toApplicationViews([])).toEqual([]);
});
