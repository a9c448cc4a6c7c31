import { describe, expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { toServerGroupView } from '#providers/kubernetes/views/server-group-view.ts';
import { ServiceIndex } from '#providers/kubernetes/views/service-index.ts';
import {
  findTargetServerGroup,
  parseTargetServerGroup,
  type TargetRequest,
} from '#providers/kubernetes/views/target-server-group.ts';
import { createPod, createReplicaSet } from './sample-manifests.ts';

const registry = createKindRegistry();
const context = { account: 'test', services: new ServiceIndex([]) };

interface Parts {
  /** In seconds. */
  readonly age: number;
  readonly pods: number;
  readonly annotations?: { readonly [key: string]: string };
}

function create(name: string, { age, pods, annotations = {} }: Parts) {
  const facts = toFacts(createReplicaSet(name, { annotations }), registry);
  const instances = Array.from({ length: pods }, (_, index) =>
    toFacts(createPod(`${name}-${index}`), registry),
  );
  return toServerGroupView({ facts: { ...facts, createdTime: 1e12 - age * 1000 }, instances }, context);
}

const disabled = { 'traffic.spinnaker.io/load-balancers': '["service web"]' };
const cluster = [
  create('middle', { age: 20, pods: 3 }),
  create('newest', { age: 10, pods: 1, annotations: disabled }),
  create('oldest', { age: 30, pods: 3 }),
];

function find(more: Partial<TargetRequest>, serverGroups = cluster): string | undefined {
  const request = { target: 'CURRENT', location: 'store', onlyEnabled: false, validateOldest: true } as const;
  return findTargetServerGroup(serverGroups, { ...request, ...more })?.displayName;
}

test.each([
  { text: 'current', target: 'CURRENT' },
  { text: 'NEWEST', target: 'CURRENT' },
  { text: 'current_asg_dynamic', target: 'CURRENT' },
  { text: 'Previous', target: 'PREVIOUS' },
  { text: 'ancestor_asg_dynamic', target: 'PREVIOUS' },
  { text: 'OLDEST_ASG', target: 'OLDEST' },
  { text: 'largest', target: 'LARGEST' },
  { text: 'fail', target: 'FAIL' },
])("'$text' means $target", ({ text, target }) => {
  expect(parseTargetServerGroup(text)).toBe(target);
});

test.each(['constructor', '', 'current_asg_static'])("'%s' means nothing", (text) => {
  expect(() => parseTargetServerGroup(text)).toThrow(
    `target: expected current, previous, oldest, largest or fail, got '${text}'`,
  );
});

describe('of three server groups', () => {
  test.each([
    { target: 'CURRENT', picked: 'newest' },
    { target: 'PREVIOUS', picked: 'middle' },
    { target: 'OLDEST', picked: 'oldest' },
    { target: 'LARGEST', picked: 'middle' },
    { target: 'FAIL', picked: undefined },
  ] as const)('$target is $picked', ({ target, picked }) => {
    expect(find({ target })).toBe(picked);
  });

  test('only enabled ones count where that is asked', () => {
    expect(find({ onlyEnabled: true })).toBe('middle');
  });

  test('none is in another namespace', () => {
    expect(find({ location: 'elsewhere' })).toBeUndefined();
  });
});

test('one alone is neither the previous nor the oldest, unless that is not checked', () => {
  const alone = cluster.slice(0, 1);
  expect(find({ target: 'PREVIOUS' }, alone)).toBeUndefined();
  expect(find({ target: 'OLDEST' }, alone)).toBeUndefined();
  expect(find({ target: 'OLDEST', validateOldest: false }, alone)).toBe('middle');
  expect(find({ target: 'FAIL' }, alone)).toBe('middle');
});

test('of two of the same second the higher version is the newer', () => {
  const twins = ['9', '10'].map((sequence) => {
    const annotations = { 'moniker.spinnaker.io/sequence': sequence };
    return create(`twin-${sequence}`, { age: 5, pods: 1, annotations });
  });
  expect(find({}, twins)).toBe('twin-10');
  expect(find({}, twins.toReversed())).toBe('twin-10');
});
