import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toV1KindRegistry } from '#providers/kubernetes/kinds/v1-kinds.ts';
import { toV1Facts } from '#providers/kubernetes/rows/to-v1-facts.ts';
import { getV1HealthState, toV1HealthViews } from '#providers/kubernetes/v1/views/health.ts';
import { getV1JobState } from '#providers/kubernetes/v1/views/job-view.ts';
import { isV1Disabled } from '#providers/kubernetes/v1/views/server-group-links.ts';

const registry = toV1KindRegistry(createKindRegistry());

const makePod = (status: JsonObject, labels: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'kub-v000-x', namespace: 'shop', labels },
  status,
});
const judge = (status: JsonObject, labels?: JsonObject) =>
  toV1HealthViews(toV1Facts(makePod(status, labels), registry));
const withState = (state: JsonObject, ready = false): JsonObject => ({
  phase: 'Running',
  containerStatuses: [{ name: 'web', image: 'hub.test/web:1', ready, state }],
});

describe('a pod', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['nothing is scheduled', { phase: 'Pending' }, { state: 'Down', description: 'No containers scheduled' }],
    [
      'it is told why not',
      { phase: 'Pending', conditions: [{ reason: 'Unschedulable' }] },
      { state: 'Down', description: 'Unschedulable' },
    ],
    ['it begins', { phase: 'Pending', containerStatuses: [{ image: 'a' }] }, { state: 'Unknown' }],
    ['it runs', { phase: 'Running' }, { state: 'Up' }],
    ['it is done', { phase: 'Succeeded' }, { state: 'Succeeded' }],
    ['it has failed', { phase: 'Failed' }, { state: 'Failed' }],
    ['nobody knows', { phase: 'Unknown' }, { state: 'Unknown' }],
  ])('fares so when %s', (_, status, health) => {
    const [first] = judge(status);
    expect(first).toEqual({ source: 'Pod', type: 'KubernetesPod', healthClass: 'platform', ...health });
  });

  test.each([
    ['true', 'Up'],
    ['false', 'OutOfService'],
  ])('labelled "%s" for a load balancer is %s there', (value, state) => {
    expect(judge({ phase: 'Running' }, { 'load-balancer-web': value, app: 'x' })).toContainEqual({
      source: 'Service load-balancer-web',
      type: 'KubernetesService',
      state,
    });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['runs, ready', withState({ running: {} }, true), { state: 'Up' }],
    [
      'is not ready',
      withState({ running: {} }),
      { state: 'Down', description: "Readiness probe hasn't passed" },
    ],
    [
      'waits',
      withState({ waiting: { reason: 'CrashLoopBackOff' } }),
      { state: 'Down', description: 'CrashLoopBackOff' },
    ],
    ['is done', withState({ terminated: { reason: 'Completed', exitCode: 0 } }), { state: 'Succeeded' }],
    [
      'has failed',
      withState({ terminated: { reason: 'Completed', exitCode: 4 } }),
      { state: 'Failed', description: 'Container terminated with code 4' },
    ],
    [
      'was killed',
      withState({ terminated: { reason: 'OOMKilled', exitCode: 137 } }),
      { state: 'Down', description: 'OOMKilled' },
    ],
  ])('has a container that %s', (_, status, health) => {
    expect(judge(status).at(-1)).toEqual({
      source: 'Container hub.test/web:1',
      type: 'KubernetesContainer',
      ...health,
    });
  });

  test.each([
    [['Up', 'Unknown', 'Up'], 'Up'],
    [['Succeeded', 'Succeeded'], 'Succeeded'],
    [['Up', 'Starting', 'Down'], 'Starting'],
    [['Up', 'Down', 'OutOfService'], 'Down'],
    [['Up', 'Failed', 'OutOfService'], 'Failed'],
    [['Up', 'OutOfService'], 'OutOfService'],
    [['Up', 'Succeeded'], 'Unknown'],
    [['Unknown'], 'Unknown'],
    [[], 'Unknown'],
  ] as const)('whose parts are %j is %s', (states, expected) => {
    const health = states.map((state) => ({ source: 'x', type: 'KubernetesPod', state }) as const);
    expect(getV1HealthState(health)).toBe(expected);
  });
});

test.each<[string, JsonObject, string]>([
  ['running', { running: {} }, 'Running'],
  ['starting', { waiting: { reason: 'ContainerCreating' } }, 'Starting'],
  ['without its image', { waiting: { reason: 'ImagePullBackOff' } }, 'Failed'],
  ['without its settings', { waiting: { reason: 'CreateContainerConfigError' } }, 'Failed'],
  ['done', { terminated: { exitCode: 0 } }, 'Succeeded'],
  ['done with an error', { terminated: { exitCode: 2 } }, 'Failed'],
  ['out of memory', { terminated: { exitCode: 0, reason: 'OOMKilled' } }, 'Failed'],
  ['unknown', {}, 'Unknown'],
])('a job that is %s', (_, state, expected) => {
  expect(getV1JobState(makePod(withState(state)))).toBe(expected);
});

test.each([
  { what: 'has no pods', replicas: 0, labels: { 'load-balancer-a': 'true' }, expected: true },
  { what: 'has one', labels: { 'load-balancer-a': 'true', 'load-balancer-b': 'false' }, expected: false },
  { what: 'is behind none of its own', labels: { 'load-balancer-a': 'false' }, expected: true },
  { what: 'has none', expected: false },
  { what: 'has none, and says no', enabled: 'false', expected: true },
  { what: 'has one, and says no', labels: { 'load-balancer-a': 'true' }, enabled: 'false', expected: false },
])('a server group that $what is disabled: $expected', ({ replicas = 1, labels = {}, enabled, expected }) => {
  const controller = {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: {
      name: 'kub-v000',
      namespace: 'shop',
      ...(enabled && { annotations: { 'service.spinnaker.io/enabled': enabled } }),
    },
    spec: { replicas, template: { metadata: { labels: { ...labels } } } },
  };
  expect(isV1Disabled(toV1Facts(controller, registry))).toBe(expected);
});
