import { describe, expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { createManifest } from '../manifests.ts';
import { createPod, createReplicaSet, getUid } from '../views/sample-manifests.ts';

const registry = createKindRegistry();

describe('what is kept of', () => {
  test('a ReplicaSet', () => {
    const annotations = { 'traffic.spinnaker.io/load-balancers': '["service web"]' };
    expect(toFacts(createReplicaSet('web-6d5f', { annotations }), registry)).toEqual({
      kind: 'replicaSet',
      spinnakerKind: 'serverGroups',
      apiVersion: 'apps/v1',
      namespace: 'store',
      name: 'web-6d5f',
      uid: getUid('web-6d5f'),
      resourceVersion: '123456789',
      createdTime: Date.UTC(2026, 10, 21, 9),
      labels: expect.objectContaining({ app: 'web' }),
      moniker: { app: 'shop', cluster: 'deployment web', sequence: 7 },
      owners: [{ kind: 'deployment', name: 'web', uid: getUid('deployment web'), isManager: true }],
      workload: {
        replicas: 2,
        images: ['registry.test/shop/web:1.4'],
        podLabels: expect.objectContaining({ 'pod-template-hash': '6d5f8b9c7' }),
        loadBalancers: ['service web'],
      },
    });
  });

  test('a traffic annotation: full names, however they are written', () => {
    const annotations = {
      'traffic.spinnaker.io/load-balancers': '["svc web","Service web","web","service a b"]',
    };
    const { workload } = toFacts(createReplicaSet('web-6d5f', { annotations }), registry);
    expect(workload?.loadBalancers).toEqual(['service web']);
  });

  test('a pod: nothing of its spec', () => {
    const { pod, workload, ...facts } = toFacts(createPod('web-6d5f-x7k2p'), registry);
    expect(pod).toEqual({ phase: 'Running', containers: [{ name: 'web', isReady: true }] });
    expect(workload).toBeUndefined();
    expect(JSON.stringify(facts)).not.toContain('registry.test');
  });

  test('an object without annotations: what its name says', () => {
    const manifest = createManifest('v1', 'Service', { name: 'cart-prod-eu-v012', namespace: 'store' });
    expect(toFacts(manifest, registry).moniker).toEqual({
      app: 'cart',
      cluster: 'cart-prod-eu',
      sequence: 12,
    });
  });

  test('an object of a kind that the account counts among the server groups', () => {
    const own = createKindRegistry([
      { kubernetesKind: 'Rollout.argoproj.io', spinnakerKind: 'serverGroupManagers' },
      { kubernetesKind: 'Fleet.agones.dev', spinnakerKind: 'serverGroups' },
    ]);
    const fleet = {
      ...createReplicaSet('arena'),
      apiVersion: 'agones.dev/V1',
      kind: 'Fleet',
      metadata: {
        name: 'arena',
        ownerReferences: [{ apiVersion: 'argoproj.io/v1', kind: 'Rollout', name: 'r', uid: '1' }],
      },
    };
    const facts = toFacts(fleet, own);
    expect(facts).toMatchObject({ apiVersion: 'agones.dev/v1', spinnakerKind: 'serverGroups' });
    expect(facts.workload?.images).toEqual(['registry.test/shop/web:1.4']);
    expect(facts.owners).toEqual([{ kind: 'Rollout.argoproj.io', name: 'r', uid: '1', isManager: true }]);
    expect(toFacts(fleet, registry).workload).toBeUndefined();
  });

  test.each([
    { kind: 'Pod', apiVersion: 'v1' },
    { kind: 'Service', apiVersion: 'v1' },
    { kind: 'ReplicaSet', apiVersion: 'apps/v1' },
    { kind: 'CronJob', apiVersion: 'batch/v1' },
    { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1' },
    { kind: 'NetworkPolicy', apiVersion: 'networking.k8s.io/v1' },
  ])('a misshapen $kind: what can be read', (identity) => {
    const odd = {
      ...identity,
      metadata: { name: 'odd', labels: [1], creationTimestamp: 'yesterday', ownerReferences: {} },
      spec: { replicas: '3', selector: 7, template: [], rules: [null], ingress: [{ ports: [null, 3] }] },
      status: { phase: 5, containerStatuses: 'none' },
    };
    const facts = toFacts(odd, registry);
    expect(facts).toMatchObject({ name: 'odd', labels: {}, owners: [] });
    expect(facts.createdTime).toBeUndefined();
    expect(toFacts({ ...identity }, registry).name).toBe('');
  });
});
