import { expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { countInstances, getHealthState } from '#providers/kubernetes/views/instance-view.ts';
import { createPod } from './sample-manifests.ts';

function create(phase: string, ready: readonly boolean[]) {
  const containers = ready.map((isReady, index) => ({ name: `c${index}`, isReady }));
  return { ...toFacts(createPod('web-1'), createKindRegistry()), pod: { phase, containers } };
}

test.each([
  { phase: 'Running', ready: [true], state: 'Up' },
  { phase: 'Running', ready: [true, false], state: 'Down' },
  { phase: 'Running', ready: [], state: 'Up' },
  { phase: 'Pending', ready: [], state: 'Down' },
  { phase: 'Pending', ready: [true], state: 'Down' },
  { phase: 'Succeeded', ready: [false], state: 'Down' },
  { phase: 'Failed', ready: [true], state: 'Up' },
  { phase: 'Unknown', ready: [], state: 'Unknown' },
  { phase: '', ready: [], state: 'Unknown' },
])('a pod that is $phase with containers ready $ready is $state', ({ phase, ready, state }) => {
  expect(getHealthState(create(phase, ready))).toBe(state);
});

test('pods are counted by how they fare', () => {
  const pods = [create('Running', [true]), create('Running', [true]), create('Pending', []), create('', [])];
  const none = { outOfService: 0, starting: 0 };
  expect(countInstances(pods)).toEqual({ ...none, total: 4, up: 2, down: 1, unknown: 1 });
});
