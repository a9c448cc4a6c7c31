import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { decodeFacts, encodeFacts, factsVersion } from '#providers/kubernetes/rows/facts-codec.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { createPod, createReplicaSet } from '../views/sample-manifests.ts';
import { anyFacts } from './arbitrary-facts.ts';

const registry = createKindRegistry();

describe('facts', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(decodeFacts(encodeFacts(facts))).toEqual(facts);
      }),
    );
  });

  test('are the same text each time they come back: texts are compared', () => {
    const pod = toFacts(createPod('web-1'), registry);
    const replicaSet = toFacts(createReplicaSet('web'), registry);
    for (const facts of [pod, replicaSet]) {
      expect(JSON.stringify(decodeFacts(encodeFacts(facts)))).toBe(JSON.stringify(facts));
    }
  });

  test('of another version count as absent', () => {
    const text = encodeFacts(toFacts(createPod('web-1'), registry));
    const other = text.replace(`"v":${factsVersion}`, `"v":${factsVersion + 1}`);
    expect(other).not.toBe(text);
    expect(decodeFacts(other)).toBeUndefined();
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
});
