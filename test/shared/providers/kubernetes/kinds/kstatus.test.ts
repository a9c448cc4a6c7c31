import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { judgeReadiness } from '#providers/kubernetes/kinds/kstatus.ts';
import { freeze } from '#test/support/engines/frozen.ts';

const nowMs = Date.parse('2026-01-01T00:01:00Z');
const at = (seconds: number): JsonObject => ({
  metadata: { creationTimestamp: new Date(nowMs - seconds * 1000).toISOString() },
});
const condition = (type: string, status: string, more: JsonObject = {}): JsonObject => ({
  conditions: [{ type, status, ...more }],
});

const service: JsonObject = { apiVersion: 'v1', kind: 'Service' };
const balanced: JsonObject = { ...service, spec: { type: 'LoadBalancer', clusterIP: '10.0.0.7' } };
const pod: JsonObject = { apiVersion: 'v1', kind: 'Pod' };
const claim: JsonObject = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
const crd: JsonObject = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
const custom: JsonObject = { apiVersion: 'example.com/v1', kind: 'Database' };
const job: JsonObject = { apiVersion: 'batch/v1', kind: 'Job' };
const workload = (kind: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { generation: 2 },
  spec: { replicas: 3, ...spec },
});
const counts = (...members: string[]): JsonObject => Object.fromEntries(members.map((member) => [member, 3]));

const deploy = workload('Deployment', { progressDeadlineSeconds: 600 });
const progressed = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' };
const available = { type: 'Available', status: 'True' };
const deployed: JsonObject = {
  observedGeneration: 2,
  ...counts('replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'),
  conditions: [progressed, available],
};
const rs = workload('ReplicaSet');
const replicated = counts('replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas');
const statefulSet = workload('StatefulSet', { updateStrategy: { type: 'RollingUpdate' } });
const stateful: JsonObject = {
  ...counts('replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas'),
  currentRevision: 'a',
  updateRevision: 'a',
};
const partitioned = workload('StatefulSet', { updateStrategy: { rollingUpdate: { partition: 1 } } });
const ds = workload('DaemonSet');
const scheduled: JsonObject = {
  observedGeneration: 2,
  ...counts(
    'desiredNumberScheduled',
    'currentNumberScheduled',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberReady',
  ),
};
const crashing = { name: 'main', state: { waiting: { reason: 'CrashLoopBackOff' } } };
const unschedulable = condition('PodScheduled', 'False', { reason: 'Unschedulable', message: 'no nodes' });

/** Objects, with their status, and how far they are. */
const judged: readonly [what: string, object: JsonObject, status: JsonObject | undefined, is: string][] = [
  ['a Service', { ...service, spec: { type: 'ClusterIP' } }, {}, 'current'],
  ['… with a load balancer', balanced, { loadBalancer: {} }, 'inProgress: no address'],
  ['… without a cluster IP', { ...service, spec: { type: 'LoadBalancer' } }, {}, 'inProgress: no cluster IP'],
  ['… with an address', balanced, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }, 'current'],
  ['… with a host name', balanced, { loadBalancer: { ingress: [{ hostname: 'x.test' }] } }, 'current'],
  ['a pod nobody has seen', pod, {}, 'inProgress: not known'],
  ['… that is pending', pod, { phase: 'Pending' }, 'inProgress: pending'],
  ['… without a node', { ...pod, ...at(14) }, { phase: 'Pending', ...unschedulable }, 'inProgress: no nodes'],
  ['… that finds no node', { ...pod, ...at(16) }, { phase: 'Pending', ...unschedulable }, 'failed: no nodes'],
  ['… that runs', pod, { phase: 'Running' }, 'inProgress: not ready'],
  ['… that is ready', pod, { phase: 'Running', ...condition('Ready', 'True') }, 'current'],
  ['… that crashes', pod, { phase: 'Running', containerStatuses: [crashing] }, 'failed: main'],
  ['… that is done', pod, { phase: 'Succeeded' }, 'current'],
  ['… that has failed', pod, { phase: 'Failed' }, 'current'],
  ['a claim without status', claim, undefined, 'inProgress: unknown'],
  ['… that is pending', claim, { phase: 'Pending' }, 'inProgress: Pending'],
  ['… that is bound', claim, { phase: 'Bound' }, 'current'],
  ['a new definition', crd, {}, 'inProgress: not established'],
  [
    '… being installed',
    crd,
    condition('Established', 'False', { reason: 'Installing' }),
    'inProgress: not established',
  ],
  ['… that failed', crd, condition('Established', 'False', { reason: 'X', message: 'why' }), 'failed: why'],
  ['… with taken names', crd, condition('NamesAccepted', 'False', { message: 'taken' }), 'failed: taken'],
  ['… that is there', crd, condition('Established', 'True'), 'current'],
  ['a custom resource', custom, undefined, 'current'],
  ['… that is ready', custom, condition('Ready', 'True'), 'current'],
  ['… that is not', custom, condition('Ready', 'False', { message: 'creating' }), 'inProgress: creating'],
  ['… that does not know', custom, condition('Ready', 'Unknown'), 'inProgress: Unknown'],
  ['… reconciled', custom, condition('Reconciling', 'True', { message: 'on it' }), 'inProgress: on it'],
  ['… that is stuck', custom, condition('Stalled', 'True', { message: 'stuck' }), 'failed: stuck'],
  [
    '… of an old generation',
    { ...custom, metadata: { generation: 2 } },
    { observedGeneration: 1 },
    'inProgress: generation 1',
  ],
  ['… that goes', { ...custom, metadata: { deletionTimestamp: 'x' } }, {}, 'inProgress: deleted'],
  ['a Deployment', deploy, deployed, 'current'],
  ['… with old pods', deploy, { ...deployed, replicas: 4 }, 'inProgress: 1 replicas too many'],
  ['… outdated', deploy, { ...deployed, updatedReplicas: 2 }, 'inProgress: 2 of 3 replicas are updated'],
  ['… not available', deploy, { ...deployed, conditions: [progressed] }, 'inProgress: not available'],
  ['… midway', deploy, { ...deployed, conditions: [available] }, 'inProgress: ReplicaSet is not available'],
  ['… without a deadline', workload('Deployment'), { ...deployed, conditions: [available] }, 'current'],
  [
    '… that is late',
    deploy,
    {
      ...deployed,
      ...condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded', message: 'late' }),
    },
    'failed: late',
  ],
  ['a ReplicaSet', rs, replicated, 'current'],
  [
    '… that cannot make pods',
    rs,
    { ...replicated, ...condition('ReplicaFailure', 'True', { message: 'quota' }) },
    'inProgress: quota',
  ],
  ['… short of one', rs, { ...replicated, readyReplicas: 1 }, 'inProgress: 1 of 3 replicas are ready'],
  ['… with too many', rs, { ...replicated, replicas: 5 }, 'inProgress: 2 replicas too many'],
  ['a StatefulSet', statefulSet, stateful, 'current'],
  ['… of another revision', statefulSet, { ...stateful, updateRevision: 'b' }, 'inProgress: revision'],
  ['… with a partition', partitioned, { ...stateful, updatedReplicas: 2, updateRevision: 'b' }, 'current'],
  ['… partly', partitioned, { ...stateful, updatedReplicas: 1 }, 'inProgress: 1 of 2 replicas are updated'],
  ['… deleted by hand', workload('StatefulSet', { updateStrategy: { type: 'OnDelete' } }), {}, 'current'],
  ['a DaemonSet', ds, scheduled, 'current'],
  ['… nobody has seen', ds, {}, 'inProgress: not seen it'],
  ['… outdated', ds, { ...scheduled, updatedNumberScheduled: 0 }, 'inProgress: 0 of 3 replicas are updated'],
  ['a Job', job, {}, 'inProgress: not started'],
  ['… that runs', job, { startTime: 'x' }, 'current'],
  ['… that is suspended', job, condition('Suspended', 'True'), 'current'],
  ['… that has failed', job, condition('Failed', 'True', { message: 'limit' }), 'failed: limit'],
  ['a ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap' }, undefined, 'current'],
  ['a Service of another group', { ...balanced, apiVersion: 'serving.test/v1' }, {}, 'current'],
];

describe('kstatus', () => {
  const cases = judged.map(([what, object, status, is]) => ({ what, object, status, is }));

  test.each(cases)('of $what', ({ object, status, is }) => {
    const manifest: Manifest = freeze({ ...object, ...(status && { status }) });
    const { state, message } = judgeReadiness(manifest, nowMs);
    const [expected, words = ''] = is.split(': ');
    expect({ state, message }).toEqual({ state: expected, message: expect.stringContaining(words) });
    expect(message === '').toBe(state === 'current');
  });
});
