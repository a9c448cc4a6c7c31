import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { parseKubernetesSettings } from '#providers/kubernetes/account/account-settings.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { deployField, findManifests } from '#providers/kubernetes/operations/deploy/description.ts';
import { listPlanInputs, planDeploy } from '#providers/kubernetes/operations/deploy/plan.ts';
import { parseWith, requireField } from '#settings/coerce.ts';

const services = Array.from({ length: 50 }, (_, index) => `service lb-${index}`);

function makeService(name: string): Manifest {
  const selector = { [name]: 'on' };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'web' }, spec: { selector } };
}

function makeConfigMap(index: number): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `map-${index}`, namespace: 'web' } };
}

/** A workload behind all services, which mounts a ConfigMap of the same deploy. */
function makeReplicaSet(index: number): Manifest {
  const volumes = [{ name: 'map', configMap: { name: `map-${index}` } }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [], volumes } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: `web-${index}`, namespace: 'web' },
    spec: { template },
  };
}

test('5,000 manifests that refer to each other are planned while others get their turns', async () => {
  const manifests = [
    ...services.map((text) => makeService(text.slice('service '.length))),
    ...Array.from({ length: 2_475 }, (_, index) => makeConfigMap(index)),
    ...Array.from({ length: 2_475 }, (_, index) => makeReplicaSet(index)),
  ];
  const input = { manifests, services, moniker: { app: 'web' } };
  const description = parseWith(requireField(deployField), input, 'deployManifest');
  const settings = { kubernetes: { accounts: [{ name: 'prod', kubeconfigContents: '{}' }] } };
  const [account] = parseKubernetesAccounts(settings).accounts;
  if (account === undefined) throw new Error('the account was refused');
  const request = {
    description,
    manifests: findManifests(description) ?? [],
    account,
    settings: parseKubernetesSettings(settings),
  };

  const used = process.threadCpuUsage();
  const allInputs = listPlanInputs(request);
  let turns = 0;
  const planning = planDeploy(request, () => ({ version: 0 }));
  let isDone = false;
  void planning.finally(() => {
    isDone = true;
  });
  for (; !isDone; turns += 1) await setImmediate();
  const planned = await planning;

  // Where each manifest was looked for among all others it took minutes.
  expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(20_000);
  expect(allInputs).toHaveLength(5_000);
  expect(planned.at(-1)).toMatchObject({
    manifest: { spec: { template: { spec: { volumes: [{ configMap: { name: 'map-2474-v000' } }] } } } },
    attached: expect.arrayContaining(['service lb-49']),
  });
  expect(turns).toBeGreaterThan(1);
});
