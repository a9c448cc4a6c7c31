import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKindRegistry } from '../../../../../shared/providers/kubernetes/kinds/index.ts';
import {
  decodeFacts,
  encodeFacts,
  factsVersion,
} from '../../../../../shared/providers/kubernetes/views/facts-codec.ts';
import {
  decodeServerGroup,
  encodeServerGroup,
} from '../../../../../shared/providers/kubernetes/views/server-group-codec.ts';
import { toFacts } from '../../../../../shared/providers/kubernetes/views/to-facts.ts';
import { anyFacts, anyServerGroup } from './arbitrary-facts.ts';
import { createPod, createReplicaSet } from './sample-manifests.ts';

const registry = createKindRegistry();

describe('facts', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(decodeFacts(encodeFacts(facts))).toEqual(facts);
      }),
    );
  });

  test('of another version count as absent', () => {
    const text = encodeFacts(toFacts(createPod('web-1'), registry));
    const other = text.replace(`"v":${factsVersion}`, `"v":${factsVersion + 1}`);
    expect(other).not.toBe(text);
    expect(decodeFacts(other)).toBeUndefined();
    expect(decodeServerGroup(`{"v":${factsVersion + 1}}`)).toBeUndefined();
  });
});

describe('a server group with its pods', () => {
  test('comes back as it was', () => {
    fc.assert(
      fc.property(anyServerGroup, (serverGroup) => {
        expect(decodeServerGroup(encodeServerGroup(serverGroup))).toEqual(serverGroup);
      }),
    );
  });

  test('shares the labels that its pods have in common', () => {
    const facts = toFacts(createReplicaSet('web'), registry);
    const zones = ['a', 'b', 'a', 'b'].map((zone) => ({ 'topology.kubernetes.io/zone': zone }));
    const pods = zones.map((zone, index) => toFacts(createPod(`web-${index}`, { labels: zone }), registry));
    const text = encodeServerGroup({ facts, instances: pods });
    const labels = decodeServerGroup(text)?.instances.map((instance) => instance.labels) ?? [];
    expect(labels).toEqual(pods.map((pod) => pod.labels));
    expect(new Set(labels).size).toBe(2);
  });
});

describe('sizes', () => {
  const serverGroup = toFacts(createReplicaSet('web'), registry);
  const pods = Array.from({ length: 10 }, (_, index) =>
    toFacts(createPod(`web-6d5f8b9c7-x7k2${index}`), registry),
  );

  test('of a pod: 400 bytes at most', () => {
    expect(pods.map((pod) => encodeFacts(pod).length).every((size) => size <= 400)).toBe(true);
  });

  test('of a ReplicaSet: 600 bytes at most', () => {
    expect(encodeFacts(serverGroup).length).toBeLessThanOrEqual(600);
  });

  const sequence = { 'moniker.spinnaker.io/sequence': '7' };
  test.each([
    { title: 'a Deployment', annotations: {} },
    { title: 'a version', annotations: sequence },
  ])('of a further pod in the server group of $title: 120 bytes at most', ({ annotations }) => {
    const serverGroup = toFacts(createReplicaSet('web', { annotations }), registry);
    const pods = Array.from({ length: 10 }, (_, index) =>
      toFacts(createPod(`web-x7k2${index}`, { annotations }), registry),
    );
    const sizes = [9, 10].map(
      (count) => encodeServerGroup({ facts: serverGroup, instances: pods.slice(0, count) }).length,
    );
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThanOrEqual(120);
  });
});
