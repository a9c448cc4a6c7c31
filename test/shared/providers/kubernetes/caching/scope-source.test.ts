import { expect, test } from 'vitest';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { parseKubernetesSettings } from '#providers/kubernetes/account/account-settings.ts';
import { createClusterSource } from '#providers/kubernetes/caching/scope-source.ts';
import { createKubernetesClient } from '#providers/kubernetes/client/kubernetes-client.ts';
import { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';
import { silentLog } from '../client/client-setup.ts';
import { openAccount } from './open-account.ts';

test.each([
  { namespaces: [], readsByLocation: false, findsLocations: true },
  { namespaces: ['a', 'b', 'c'], readsByLocation: true, findsLocations: false },
  { namespaces: ['a', 'b', 'c', 'd'], readsByLocation: false, findsLocations: false },
])('an account that names the namespaces $namespaces', async ({ namespaces, ...expected }) => {
  const account = openAccount({ namespaces });
  const parts = { clock: systemClock, randomness: systemRandomness };
  const connection = { ...account.connection, placement: 'local' as const };
  const clients = { ...parts, connection, log: silentLog, environment: {} };
  await using client = createKubernetesClient(clients);
  await using watches = new WatchClient(clients);
  const { cache: settings } = parseKubernetesSettings({});
  const options = { account, settings, client, watches, ...parts };
  const source = createClusterSource({ ...options, family: 'built-in', hasCustomAgent: false });
  expect(source).toMatchObject(expected);
});
