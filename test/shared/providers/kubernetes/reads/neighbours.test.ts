import { describe, expect, test } from 'vitest';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createManifest } from '../manifests.ts';
import {
  createPod,
  createReplicaSet,
  createSampleDeployment,
  createSampleService,
} from '../views/sample-manifests.ts';
import { location, openAccount as openAccountOf, show } from './cached-accounts.ts';

const open = useLocalTables();
const other = { 'moniker.spinnaker.io/application': 'other' };
const openAccount = (objects: readonly Manifest[]) => openAccountOf(open, { objects });

function createIngress(name: string, service: string): Manifest {
  const annotations = { 'moniker.spinnaker.io/application': 'shop' };
  const more = { spec: { defaultBackend: { service: { name: service, port: { number: 80 } } } } };
  return createManifest('networking.k8s.io/v1', 'Ingress', { name, namespace: location, annotations, more });
}

describe('relations across applications', () => {
  const foreign = [
    createReplicaSet('web-1', { annotations: other }),
    createPod('web-1-a', { owner: 'web-1', annotations: other }),
    createReplicaSet('api-1', { annotations: other, labels: { app: 'api' }, owner: 'api' }),
    createPod('api-1-a', { owner: 'api-1', annotations: other, labels: { app: 'api' } }),
  ];
  const service = createSampleService('web', { app: 'web' });

  test("a load balancer shows another application's server groups that it selects, with their pods", async () => {
    const { reader, key } = await openAccount([service, ...foreign]);
    const expected = [
      expect.objectContaining({
        name: 'replicaSet web-1',
        instances: [expect.objectContaining({ name: 'pod web-1-a' })],
      }),
    ];
    expect((await reader.listLoadBalancers('shop')).value).toMatchObject([{ serverGroups: expected }]);
    expect(await show(reader.findLoadBalancer(key('service web')))).toMatchObject({ serverGroups: expected });
  });

  test('a service that selects a label of pods alone finds their server groups', async () => {
    const leader = createSampleService('leader', { app: 'api', role: 'leader' });
    const pod = createPod('api-1-b', {
      owner: 'api-1',
      annotations: other,
      labels: { app: 'api', role: 'leader' },
    });
    const { reader } = await openAccount([leader, ...foreign, pod]);
    expect((await reader.listLoadBalancers('shop')).value).toMatchObject([
      { serverGroups: [{ name: 'replicaSet api-1', instances: [{ name: 'pod api-1-b' }] }] },
    ]);
  });

  test("an ingress shows what is behind another application's service", async () => {
    const theirs = createSampleService('web', { app: 'web' });
    Object.assign(asJsonObject(theirs.metadata) ?? {}, { annotations: other });
    const { reader, key } = await openAccount([theirs, createIngress('front', 'web'), ...foreign]);
    expect((await reader.listLoadBalancers('shop')).value).toMatchObject([
      { name: 'ingress front', serverGroups: [{ name: 'replicaSet web-1' }] },
    ]);
    expect(await show(reader.findLoadBalancer(key('ingress front')))).toMatchObject({
      serverGroups: [{ name: 'replicaSet web-1' }],
    });
  });

  test('a manager shows what it owns, whosever that is', async () => {
    const { reader } = await openAccount([
      createSampleDeployment('web'),
      createReplicaSet('web-2'),
      ...foreign,
    ]);
    const [manager] = (await reader.listServerGroupManagers('shop')).value;
    expect(manager).toMatchObject({ name: 'deployment web' });
    const owned = (manager as { serverGroups: { name: string }[] }).serverGroups.map(({ name }) => name);
    expect(owned.sort()).toEqual(['replicaSet web-1', 'replicaSet web-2']);
  });

  test("a server group shows another application's service that selects it, but not of another namespace", async () => {
    const elsewhere = createSampleService('elsewhere', { app: 'web' });
    Object.assign(asJsonObject(elsewhere.metadata) ?? {}, { namespace: 'elsewhere' });
    const { reader, key } = await openAccount([service, elsewhere, ...foreign]);
    const { value } = await reader.listServerGroups({ applications: ['other'], expand: false });
    const views = value as { name: string; loadBalancers: string[] }[];
    expect(views.find(({ name }) => name === 'replicaSet web-1')?.loadBalancers).toEqual(['service web']);
    expect(await show(reader.findServerGroup(key('replicaSet web-1')))).toMatchObject({
      loadBalancers: ['service web'],
    });
    expect((await reader.listServerGroups({ applications: ['shop'], expand: false })).value).toEqual([]);
  });

  test('many neighbours of one application are found, too', async () => {
    const many = Array.from({ length: 20 }, (_, index) => [
      createReplicaSet(`web-${index}`, { annotations: other }),
      createPod(`web-${index}-a`, { owner: `web-${index}`, annotations: other }),
    ]).flat();
    const { reader } = await openAccount([service, ...many]);
    const [view] = (await reader.listLoadBalancers('shop')).value as { serverGroups: JsonObject[] }[];
    expect(view?.serverGroups).toHaveLength(20);
    expect(view?.serverGroups.every(({ instances }) => (instances as object[]).length === 1)).toBe(true);
  });
});
