import type { JsonObject } from '#core/json.ts';
import { type Members, namespaced, patchBySomebody } from './builders.ts';
import type { Pair } from './pair.ts';

const group = 'differential.busdriver.example';

/** The custom kinds of these pairs: one whose lists are atomic, one whose list `items` is a map by `name`. */
export const customKinds: readonly JsonObject[] = [
  customKind('Gadget', {}),
  customKind('Gizmo', { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
];

function customKind(kind: string, listType: JsonObject): JsonObject {
  const item = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, value: { type: 'string' } },
  };
  const spec = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { items: { type: 'array', items: item, ...listType }, size: { type: 'integer', default: 3 } },
  };
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', properties: { spec, status: { type: 'object' } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const gadgets = `/apis/${group}/v1 gadgets`;

function gadgetSpecs(title: string, first: JsonObject, second: JsonObject): Pair {
  return { title, first: gadget({ spec: first }), second: gadget({ spec: second }) };
}

function gadget(members: Members): JsonObject {
  return namespaced(`${group}/v1 Gadget`, members);
}

function gizmo(members: Members): JsonObject {
  return namespaced(`${group}/v1 Gizmo`, members);
}

const a = { name: 'a', value: '1' };
const b = { name: 'b', value: '2' };

export const customResources: readonly Pair[] = [
  gadgetSpecs(
    'members added, changed, removed',
    { x: 1, y: { z: 'a', w: true } },
    { y: { z: 'b', v: [1] }, u: 1.5 },
  ),
  gadgetSpecs('a list of objects, taken whole', { items: [a, b] }, { items: [{ ...b, value: '3' }, a] }),
  gadgetSpecs('a list emptied', { items: [a] }, { items: [] }),
  gadgetSpecs('a list removed', { items: [a] }, {}),
  gadgetSpecs('objects emptied', { x: { a: 1 }, y: {} }, { x: {}, y: { b: 1 } }),
  gadgetSpecs('empty objects, unchanged', { x: {}, y: { z: {} } }, { x: {}, y: { z: {} } }),
  gadgetSpecs(
    'null members from the start',
    { x: null, y: { z: null }, w: [{ v: null }, null] },
    { x: null, y: { z: null }, w: [{ v: null }, null] },
  ),
  gadgetSpecs('members set to null', { x: 1, y: { z: 1, v: 2 } }, { x: null, y: { z: null, v: 2 } }),
  gadgetSpecs('an object where a text was', { x: 'a', y: { z: 1 } }, { x: { z: 1 }, y: 'a' }),
  gadgetSpecs('an object where a list was', { x: [1], y: { z: 1 } }, { x: { z: 1 }, y: [{ z: 1 }] }),
  gadgetSpecs('lists of lists and numbers', { x: [[1, 2], [3]], y: 1 }, { x: [[1], [3, 2]], y: 1.25 }),
  gadgetSpecs('a default that was overridden', { size: 5 }, {}),
  gadgetSpecs('a removed member beside an emptied object', { x: { a: 1, b: 2 } }, { x: {} }),
  gadgetSpecs('the name of an element as a number, refused', { items: [a] }, { items: [{ name: 1 }] }),
  {
    title: 'a list that is a map to server-side apply only',
    first: gizmo({ spec: { items: [a, b] } }),
    second: gizmo({ spec: { items: [{ ...b, value: '4' }] } }),
  },
  {
    title: 'a list of which somebody added an element',
    first: gizmo({ spec: { items: [a] } }),
    between: [patchBySomebody(`/apis/${group}/v1 gizmos`, { spec: { items: [a, b] } })],
    second: gizmo({ spec: { items: [{ ...a, value: '5' }] } }),
  },
  {
    title: 'members that somebody added',
    first: gadget({ spec: { x: { a: 1 } }, metadata: { labels: { a: '1' } } }),
    between: [patchBySomebody(gadgets, { spec: { x: { b: 2 }, y: 1 }, metadata: { labels: { b: '2' } } })],
    second: gadget({ spec: { x: { c: 3 } }, metadata: { finalizers: ['example.com/a'] } }),
  },
  {
    title: 'an object that somebody removed, unchanged in the manifest',
    first: gadget({ spec: { x: { a: 1, b: 2 } } }),
    between: [patchBySomebody(gadgets, { spec: { x: null } })],
    second: gadget({ spec: { x: { a: 1 } } }),
  },
  {
    title: 'an object that somebody made a text of',
    first: gadget({ spec: { x: { a: 1, b: 2 } } }),
    between: [patchBySomebody(gadgets, { spec: { x: 'text' } })],
    second: gadget({ spec: { x: { a: 1 } } }),
  },
  {
    title: 'a member outside of the schema, refused',
    first: gadget({ spec: {} }),
    second: gadget({ spec: {}, other: 1 }),
  },
  {
    title: 'server-side, a list that is a map',
    first: gizmo({ spec: { items: [a, b] } }),
    firstVerb: 'serverSide',
    second: gizmo({ spec: { items: [b] } }),
    secondVerb: 'serverSide',
  },
  {
    title: 'migrated to server-side apply, a list that is a map',
    first: gizmo({ spec: { items: [a, b], size: 4 } }),
    second: gizmo({ spec: { items: [b, { name: 'c' }] } }),
    secondVerb: 'serverSide',
  },
];
