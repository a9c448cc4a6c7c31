import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { buildAutoscaler } from '#providers/kubernetes/v1/build/autoscaler.ts';
import {
  buildReplicaSet,
  buildReplicationController,
  type ServerGroupPlan,
} from '#providers/kubernetes/v1/build/controller.ts';
import { buildDeployment } from '#providers/kubernetes/v1/build/deployment.ts';
import { deployField } from '#providers/kubernetes/v1/descriptions/server-group.ts';
import { parseWith, requireField } from '#settings/coerce.ts';

/** The server group `kub-test-v002`, of one container, with these fields besides. */
function plan(fields: JsonObject = {}): ServerGroupPlan {
  const containers = [{ name: 'web', imageDescription: { repository: 'library/nginx', tag: '1' } }];
  const description = parseWith(requireField(deployField), { containers, ...fields }, 'createServerGroup');
  return {
    name: 'kub-test-v002',
    namespace: 'shop',
    replicas: 3,
    description,
    annotations: { token: 't' },
    pullSecrets: ['one', 'two'],
    defaultRegistry: 'gcr.io',
  };
}

const container = {
  name: 'web',
  image: 'gcr.io/library/nginx:1',
  imagePullPolicy: 'IfNotPresent',
  resources: {},
};
const imagePullSecrets = [{ name: 'one' }, { name: 'two' }];
const selectorLabels = {
  version: '2',
  app: 'kub',
  cluster: 'kub-test',
  stack: 'test',
  'replication-controller': 'kub-test-v002',
};

test('a ReplicationController selects by the label of its name alone', () => {
  const fields = { loadBalancers: ['front'], controllerAnnotations: { a: '1' }, podAnnotations: { b: '2' } };
  expect(buildReplicationController(plan(fields))).toEqual({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'kub-test-v002', namespace: 'shop', annotations: { a: '1', token: 't' } },
    spec: {
      replicas: 3,
      selector: { 'replication-controller': 'kub-test-v002' },
      template: {
        metadata: {
          labels: { 'replication-controller': 'kub-test-v002', 'load-balancer-front': 'true' },
          annotations: { b: '2' },
        },
        spec: { imagePullSecrets, containers: [container] },
      },
    },
  });
});

test('a ReplicaSet selects by the parts of its name', () => {
  const labels = { 'kub-test-v002': 'true', ...selectorLabels };
  expect(buildReplicaSet(plan({ loadBalancers: ['front'], replicaSetAnnotations: { a: '1' } }))).toEqual({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'kub-test-v002', namespace: 'shop', annotations: { a: '1', token: 't' }, labels },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, 'load-balancer-front': 'true' } },
        spec: { imagePullSecrets, containers: [container] },
      },
    },
  });
});

test('a Deployment makes the pods of its ReplicaSet', () => {
  const deployment = {
    enabled: true,
    minReadySeconds: 5,
    revisionHistoryLimit: 2,
    deploymentStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '1', maxUnavailable: '25%' } },
  };
  const replicaSet = buildReplicaSet(plan({ deployment }));
  const labels = { 'kub-test': 'true', ...selectorLabels };
  expect(replicaSet).toMatchObject({ spec: { replicas: 0, selector: { matchLabels: labels } } });
  expect(buildDeployment(plan({ deployment }))).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'kub-test', namespace: 'shop', annotations: { token: 't' } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { 'kub-test': 'true' } },
      template: { metadata: { labels }, spec: { imagePullSecrets, containers: [container] } },
      minReadySeconds: 5,
      revisionHistoryLimit: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: '25%' } },
    },
  });
});

test('an autoscaler goes by cpu', () => {
  const target = { apiVersion: 'v1', kind: 'ReplicationController', name: 'kub-test-v002' };
  const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } };
  const scaled = { namespace: 'shop', target, min: 1, max: 5, cpuTarget: 60, annotations: {} };
  expect(buildAutoscaler(scaled)).toEqual({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'kub-test-v002', namespace: 'shop' },
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [{ type: 'Resource', resource }],
      scaleTargetRef: target,
    },
  });
});
