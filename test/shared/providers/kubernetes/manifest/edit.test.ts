import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import { changeObject, changeStrings, changeTemplateSpecs } from '#providers/kubernetes/manifest/edit.ts';
import { freeze } from '#test/support/engines/frozen.ts';

const shout = (text: string) => text.toUpperCase();

test('changeObject changes the object at the end of a path, making the way there', () => {
  const root = freeze({ a: { b: { c: 1 } }, x: 'y' });
  const add = (object: JsonObject) => ({ ...object, d: 2 });
  expect(changeObject(root, ['a', 'b'], add)).toEqual({ a: { b: { c: 1, d: 2 } }, x: 'y' });
  expect(changeObject(root, ['n', 'm'], add)).toEqual({ ...root, n: { m: { d: 2 } } });
  expect(changeObject(root, ['x', 'm'], add)).toEqual({ ...root, x: { m: { d: 2 } } });
  expect(changeObject(root, [], add)).toEqual({ ...root, d: 2 });
});

test.each([
  [['list', '*', 'name'], { list: [{ name: 'A' }, { name: 'B', other: 'b' }, {}, 'c', null], one: 'x' }],
  [['one'], { list: [{ name: 'a' }, { name: 'b', other: 'b' }, {}, 'c', null], one: 'X' }],
  [['list', '*'], { list: [{ name: 'a' }, { name: 'b', other: 'b' }, {}, 'C', null], one: 'x' }],
])('changeStrings at %j', (path, expected) => {
  const root = freeze({ list: [{ name: 'a' }, { name: 'b', other: 'b' }, {}, 'c', null], one: 'x' });
  expect(changeStrings(root as JsonObject, path, shout)).toEqual(expected);
});

test.each([[['list', 'name']], [['one', '*']], [['one', 'x']], [['nothing']], [['toString']], [['list']]])(
  'changeStrings leaves alone what does not fit %j',
  (path) => {
    const root: JsonObject = freeze({ list: [{ name: 'a' }], one: 'x' });
    expect(changeStrings(root, path, shout)).toBe(root);
  },
);

test('changeStrings keeps the identity of what does not change', () => {
  const root: JsonObject = freeze({ list: ['a', 'B'], other: {} });
  const changed = changeStrings(root, ['list', '*'], shout);
  expect(changed.other).toBe(root.other);
  expect(changeStrings(changed, ['list', '*'], shout)).toBe(changed);
});

test('changeTemplateSpecs reaches every pod template and nothing else', () => {
  const mark = (podSpec: JsonObject) => ({ ...podSpec, marked: true });
  const template = { spec: { template: { spec: { containers: [] } } } };
  const marked = { spec: { template: { spec: { containers: [], marked: true } } } };
  const cases: readonly (readonly [JsonValue, JsonValue])[] = [
    [template, marked],
    [{ spec: { jobTemplate: template } }, { spec: { jobTemplate: marked } }],
    [{ spec: { sets: [template, { x: template }] } }, { spec: { sets: [marked, { x: marked }] } }],
    [[template], [marked]],
    [{ spec: [template.spec] }, { spec: [template.spec] }],
    [{ template: { spec: {} } }, { template: { spec: {} } }],
    [{ spec: { template: { spec: 'x' } } }, { spec: { template: { spec: 'x' } } }],
    [{ spec: { template: { spec: null } } }, { spec: { template: { spec: null } } }],
  ];
  for (const [given, expected] of cases) expect(changeTemplateSpecs(freeze(given), mark)).toEqual(expected);
});

test('changeTemplateSpecs reaches a template inside a template', () => {
  const inner = { spec: { template: { spec: { a: 'x' } } } };
  const outer: JsonObject = { spec: { template: { spec: { a: 'y', inner } } } };
  const changed = changeTemplateSpecs(outer, (podSpec) => changeStrings(podSpec, ['a'], shout));
  expect(getPath(changed, 'spec', 'template', 'spec', 'a')).toBe('Y');
  expect(getPath(changed, 'spec', 'template', 'spec', 'inner', 'spec', 'template', 'spec', 'a')).toBe('X');
});

test('changing nothing is the identity', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const root = value as JsonValue;
      expect(changeTemplateSpecs(root, (podSpec) => podSpec)).toBe(root);
    }),
  );
});
