import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { findPatchType } from '#providers/kubernetes/apply/patch-schema.ts';
import { createJsonMergePatch, createStrategicPatch } from '#providers/kubernetes/apply/three-way-merge.ts';
import { deploymentSpecs } from '#test/acceptance/kubernetes/differential/generated-workloads.ts';

const deploymentType = findPatchType('apps/v1', 'Deployment') ?? {};

/** The strategic patch between Pod specs of a Deployment. */
function patchPodSpecs(original: JsonObject, modified: JsonObject, current: JsonObject): JsonObject {
  const wrap = (spec: JsonObject) => ({ spec: { template: { spec } } });
  return createStrategicPatch(
    { original: wrap(original), modified: wrap(modified), current: wrap(current) },
    deploymentType,
  );
}

const wrapped = (patch: JsonObject) => ({ spec: { template: { spec: patch } } });
const named = (...names: string[]) => names.map((name) => ({ name }));

describe('createStrategicPatch', () => {
  test('changes what differs, deletes what the manifest dropped, leaves what others added', () => {
    const patch = patchPodSpecs(
      { nodeSelector: { a: '1', b: '2' }, hostNetwork: true },
      { nodeSelector: { a: '3' } },
      { nodeSelector: { a: '1', b: '2', foreign: 'x' }, hostNetwork: true, schedulerName: 'default' },
    );
    expect(patch).toEqual(wrapped({ nodeSelector: { a: '3', b: null }, hostNetwork: null }));
  });

  test('tells integers apart that no double does, and not what the API server makes one', () => {
    const [one, other, huge] = [9007199254740992n, 9007199254740993n, 2n ** 64n - 1n];
    const members = { terminationGracePeriodSeconds: one, activeDeadlineSeconds: huge };
    const live = { terminationGracePeriodSeconds: one, activeDeadlineSeconds: 18446744073709552000n };
    expect(patchPodSpecs(members, members, live)).toEqual({});
    const changed = { ...members, terminationGracePeriodSeconds: other };
    expect(patchPodSpecs(members, changed, live)).toEqual(wrapped({ terminationGracePeriodSeconds: other }));
    const versions = { original: members, modified: changed, current: live };
    expect(createJsonMergePatch(versions)).toEqual({ terminationGracePeriodSeconds: other });
    const lists = { original: {}, modified: { finalizers: [other, 1] }, current: { finalizers: [one] } };
    const type = { finalizers: { strategy: 'merge' } } as const;
    expect(createStrategicPatch({ ...lists, original: lists.current }, type)).toEqual({
      '$deleteFromPrimitiveList/finalizers': [one],
      '$setElementOrder/finalizers': [other, 1],
      finalizers: [other, 1],
    });
  });

  test('merges lists of objects by key, and says their order', () => {
    const patch = patchPodSpecs(
      { imagePullSecrets: named('a', 'b') },
      { imagePullSecrets: named('c', 'a') },
      { imagePullSecrets: named('a', 'b', 'foreign') },
    );
    expect(patch).toEqual(
      wrapped({
        imagePullSecrets: [{ name: 'c' }, { name: 'b', $patch: 'delete' }],
        '$setElementOrder/imagePullSecrets': named('c', 'a'),
      }),
    );
  });

  test('says the order alone when nothing else changed', () => {
    const [first, second] = [named('a', 'b'), named('b', 'a')];
    const patch = patchPodSpecs(
      { imagePullSecrets: first },
      { imagePullSecrets: second },
      { imagePullSecrets: first },
    );
    expect(patch).toEqual(wrapped({ '$setElementOrder/imagePullSecrets': second }));
  });

  test('has of ports with one number the later first, and says the order of texts that are not sorted', () => {
    const [web, tcp, udp] = [
      { port: 80, targetPort: 8080 },
      { port: 53, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ];
    const toService = (...ports: JsonObject[]) => ({ metadata: { finalizers: ['b', 'a'] }, spec: { ports } });
    const live = toService({ port: 80 });
    const versions = { original: live, modified: toService(tcp, web, udp), current: live };
    expect(createStrategicPatch(versions, findPatchType('v1', 'Service') ?? {})).toEqual({
      metadata: { '$setElementOrder/finalizers': ['b', 'a'] },
      spec: {
        ports: [udp, tcp, web],
        '$setElementOrder/ports': [tcp, web, udp].map(({ port }) => ({ port })),
      },
    });
  });

  test('names the members to keep of a volume whose source changes', () => {
    const before = { volumes: [{ name: 'v', emptyDir: {} }] };
    const after = { volumes: [{ name: 'v', hostPath: { path: '/' } }] };
    expect(patchPodSpecs(before, after, before)).toEqual(
      wrapped({
        volumes: [{ name: 'v', hostPath: { path: '/' }, emptyDir: null, $retainKeys: ['hostPath', 'name'] }],
        '$setElementOrder/volumes': [{ name: 'v' }],
      }),
    );
  });

  test('deletes from a list of texts and says its order', () => {
    const versions = {
      original: { metadata: { finalizers: ['a', 'b'] } },
      modified: { metadata: { finalizers: ['b', 'c'] } },
      current: { metadata: { finalizers: ['a', 'b', 'foreign'] } },
    };
    expect(createStrategicPatch(versions, deploymentType)).toEqual({
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['b', 'c'],
        finalizers: ['c'],
      },
    });
  });

  test('takes other lists whole, and an object that is replaced always', () => {
    const tolerations = [{ key: 'b' }, { key: 'a' }];
    expect(patchPodSpecs({}, { tolerations }, { tolerations: tolerations.toReversed() })).toEqual(
      wrapped({ tolerations }),
    );
    const budget = { spec: { selector: { matchLabels: { a: 'b' } }, minAvailable: 1 } };
    const budgetType = findPatchType('policy/v1', 'PodDisruptionBudget') ?? {};
    expect(createStrategicPatch({ original: budget, modified: budget, current: budget }, budgetType)).toEqual(
      { spec: { selector: budget.spec.selector } },
    );
  });

  test('pairs elements of the same key, as kubectl does', () => {
    const udp = { containerPort: 53, protocol: 'UDP' };
    const tcp = { containerPort: 53, protocol: 'TCP' };
    const container = (...ports: JsonObject[]) => ({ containers: [{ name: 'a', ports }] });
    expect(patchPodSpecs(container(udp, tcp), container(udp, tcp), container(udp, tcp))).toEqual({});
  });

  test.each([
    ['without the key', { imagePullSecrets: [{ name: 'a' }, {}] }, /imagePullSecrets: .*'name'/],
    ['of several types', { imagePullSecrets: [{ name: 'a' }, 'a'] }, /imagePullSecrets: .*all be objects/],
    ['that are lists', { imagePullSecrets: [[]] }, /imagePullSecrets: .*all be objects/],
  ])('refuses elements %s', (_, modified, message) => {
    const attempt = () => patchPodSpecs({}, modified as JsonObject, { imagePullSecrets: named('a') });
    expect(attempt).toThrow(InvalidInputError);
    expect(attempt).toThrow(message);
  });

  test('refuses an order that cannot be said: others between elements of the same key', () => {
    const port = (containerPort: number, protocol: string, name: string) => ({
      containerPort,
      protocol,
      name,
    });
    const container = (...ports: JsonObject[]) => ({ containers: [{ name: 'a', image: 'a', ports }] });
    const current = container(port(53, 'UDP', 'x'), port(443, 'TCP', 'y'), port(53, 'TCP', 'z'));
    const modified = container(port(53, 'TCP', 'u'), port(443, 'TCP', 'v'), port(53, 'UDP', 'w'));
    const original = { containers: [{ name: 'a', image: 'a', ports: [port(1, 'TCP', 'a')] }] };
    expect(() => patchPodSpecs(original, modified, current)).toThrow(/ports: .*next to each other/);
  });

  test('is empty for what is live already', () => {
    fc.assert(
      fc.property(deploymentSpecs, deploymentSpecs, (before, after) => {
        const [original, modified] = [{ spec: before }, { spec: withoutNulls(after) }];
        expect(
          createStrategicPatch({ original: modified, modified, current: modified }, deploymentType),
        ).toEqual({});
        const alone = createStrategicPatch({ original: {}, modified, current: original }, deploymentType);
        expect(JSON.stringify(alone)).not.toMatch(/\$patch|\$deleteFrom|:null/);
      }),
    );
  });

  test('changes none of its versions', () => {
    fc.assert(
      fc.property(deploymentSpecs, deploymentSpecs, (first, second) => {
        const versions = { original: { spec: first }, modified: { spec: second }, current: { spec: first } };
        const before = structuredClone(versions);
        try {
          createStrategicPatch(versions, deploymentType);
        } catch (error) {
          if (!(error instanceof InvalidInputError)) throw error;
        }
        expect(versions).toEqual(before);
      }),
    );
  });
});

describe('createJsonMergePatch', () => {
  const key = fc.constantFrom('a', 'b', 'c', '__proto__');
  const { object: objects } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonValue>(1, 'x', true),
      tie('object'),
      fc.array(tie('value')),
    ),
    object: fc.dictionary(key, tie('value'), { noNullPrototype: true }),
  }));

  test('turns the last manifest into the new one', () => {
    fc.assert(
      fc.property(objects, objects, (original, modified) => {
        const patch = createJsonMergePatch({ original, modified, current: original });
        expect(applyMergePatch(original, patch)).toEqual(modified);
      }),
    );
  });

  test('sets all of the new manifest, whatever is live, and is empty afterwards', () => {
    fc.assert(
      fc.property(objects, objects, objects, (original, modified, current) => {
        const live = applyMergePatch(current, createJsonMergePatch({ original, modified, current }));
        expect(createJsonMergePatch({ original: modified, modified, current: live as JsonObject })).toEqual(
          {},
        );
      }),
    );
  });

  test('leaves what others added', () => {
    const current = { spec: { a: 1, foreign: 2 } };
    expect(createJsonMergePatch({ original: { spec: { a: 1 } }, modified: { spec: {} }, current })).toEqual({
      spec: { a: null },
    });
  });

  test('sends nulls of the manifest, except where they are of no use', () => {
    const modified = { a: null, b: { c: null }, d: [{ e: null }, null] };
    expect(createJsonMergePatch({ original: {}, modified, current: {} })).toEqual({
      a: null,
      b: { c: null },
      d: [{}, null],
    });
    expect(
      createJsonMergePatch({ original: modified, modified, current: { d: [{ e: null }, null] } }),
    ).toEqual({});
  });

  test.each(['apiVersion', 'kind', 'metadata.name'])('refuses to change %s', (path) => {
    const versions = (value: string) =>
      path === 'metadata.name' ? { metadata: { name: value } } : { [path]: value };
    const original = versions('a');
    expect(() => createJsonMergePatch({ original, modified: versions('b'), current: original })).toThrow(
      new InvalidInputError(`${path}: apply cannot change it from that of the live object`),
    );
  });
});

/** What a JSON merge patch does (RFC 7386). */
function applyMergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const members = new Map(Object.entries(isJsonObject(target) ? target : {}));
  for (const [key, member] of Object.entries(patch)) {
    if (member === null) members.delete(key);
    else members.set(key, applyMergePatch(members.get(key), member));
  }
  return Object.fromEntries(members);
}

function withoutNulls(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value, (_, member) => member ?? undefined));
}
