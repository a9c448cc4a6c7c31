import { expect, test } from 'vitest';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import {
  createPod,
  createReplicaSet,
  createSampleDeployment,
  createSampleService,
} from '../views/sample-manifests.ts';
import { openAccount as openAccountOf } from './cached-accounts.ts';

const open = useLocalTables();

const openAccount = (objects: readonly Manifest[]) => openAccountOf(open, { objects });

test('a search finds objects with their application and cluster, of all accounts, in a steady order', async () => {
  const { reader, account } = await openAccount([
    createReplicaSet('web-1'),
    createPod('web-1-a', { owner: 'web-1' }),
    createSampleService('web', { app: 'web' }),
    createSampleDeployment('web', { 'moniker.spinnaker.io/cluster': 'deployment web' }),
  ]);
  const types = ['serverGroups', 'instances', 'loadBalancers', 'serverGroupManagers', 'clusters'];
  const { value, accounts } = await reader.search({ query: 'WEB', types });
  expect(accounts).toEqual([account]);
  const shown = value.map(({ type, name, application, cluster }) => [type, name, application, cluster]);
  expect(shown).toEqual([
    ['clusters', 'deployment web', 'shop', 'deployment web'],
    ['instances', 'pod web-1-a', undefined, undefined],
    ['loadBalancers', 'service web', 'shop', undefined],
    ['serverGroupManagers', 'deployment web', 'shop', 'deployment web'],
    ['serverGroups', 'replicaSet web-1', 'shop', 'deployment web'],
  ]);
});

test('a search for nothing in particular finds everything, an application by its clusters, too', async () => {
  const annotations = { 'moniker.spinnaker.io/cluster': 'deployment checkout' };
  const { reader } = await openAccount([
    createSampleDeployment('checkout', annotations),
    createPod('checkout-1-a', { owner: 'checkout-1' }),
    createSampleService('web', { app: 'web' }),
  ]);
  const search = async (query: string, types: readonly string[]) => {
    const { value } = await reader.search({ query, types });
    return value.map(({ type, name }) => `${type} ${name}`);
  };

  expect(await search('CHECKOUT', [])).toEqual([
    'applications shop',
    'clusters deployment checkout',
    'instances pod checkout-1-a',
    'serverGroupManagers deployment checkout',
  ]);
  expect(await search('checkout', ['applications'])).toEqual(['applications shop']);
  expect(await search('web', ['applications'])).toEqual([]);
  expect(await search('web', ['projects'])).toEqual([]);
});
