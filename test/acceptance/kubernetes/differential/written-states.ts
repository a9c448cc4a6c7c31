import type { JsonObject } from '#core/json.ts';
import {
  clusterScoped,
  configMap,
  deployment,
  type Members,
  namespaced,
  patchBySomebody,
} from './builders.ts';
import { namePlaceholder, namespacePlaceholder, type Pair } from './pair.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const configMaps = '/api/v1 configmaps';

function configs(title: string, first: Members, second: Members): Pair {
  return { title, first: configMap(first), second: configMap(second) };
}

function metadata(title: string, first: JsonObject, second: JsonObject): Pair {
  return configs(title, { metadata: first }, { metadata: second });
}

function changed(title: string, body: JsonObject, [first, second]: readonly [Members, Members]): Pair {
  return { ...configs(title, first, second), between: [patchBySomebody(configMaps, body)] };
}

const finalizer = (name: string) => `example.com/${name}`;

const metadataPairs: readonly Pair[] = [
  metadata('labels added, changed, removed', { labels: { a: '1', b: '2' } }, { labels: { b: '3', c: '4' } }),
  metadata('labels all removed', { labels: { a: '1' } }, {}),
  metadata('labels emptied', { labels: { a: '1' } }, { labels: {} }),
  metadata('labels null', { labels: { a: '1' } }, { labels: null }),
  metadata('one label null', { labels: { a: '1', b: '2' } }, { labels: { a: null, b: '2' } }),
  metadata(
    'annotations added and removed',
    { annotations: { a: '1', b: '2' } },
    { annotations: { b: '', c: 'ü' } },
  ),
  metadata('annotations all removed', { annotations: { a: '1' } }, {}),
  metadata('annotations null', { annotations: { a: '1' } }, { annotations: null }),
  metadata('one annotation null', { annotations: { a: '1', b: '2' } }, { annotations: { a: null } }),
  metadata('an annotation that is no text', { annotations: { a: '1' } }, { annotations: { a: true } }),
  metadata('finalizers added', {}, { finalizers: [finalizer('b'), finalizer('a')] }),
  metadata(
    'finalizers reordered',
    { finalizers: [finalizer('a'), finalizer('b')] },
    { finalizers: [finalizer('b'), finalizer('a')] },
  ),
  metadata(
    'finalizers removed',
    { finalizers: [finalizer('a'), finalizer('b'), finalizer('c')] },
    { finalizers: [finalizer('d'), finalizer('b')] },
  ),
  metadata('finalizers all removed', { finalizers: [finalizer('a')] }, {}),
  metadata('a creation time of null', { creationTimestamp: null }, { creationTimestamp: null }),
  metadata('a generation that is ignored', { generation: 7 }, { generation: 8 }),
  metadata('a version that is not the live one', { resourceVersion: '1' }, {}),
  metadata('a version that conflicts', {}, { resourceVersion: '1' }),
  metadata('a uid that conflicts', {}, { uid: '00000000-0000-0000-0000-000000000000' }),
  metadata(
    'an annotation of the last applied kind in the manifest',
    { annotations: { [lastApplied]: 'x' } },
    { annotations: { [lastApplied]: '{"a":1}', b: 'c' } },
  ),
];

const dataPairs: readonly Pair[] = [
  configs('data added, changed, removed', { data: { a: '1', b: '2' } }, { data: { b: '3', c: '4' } }),
  configs('data removed whole', { data: { a: '1' } }, {}),
  configs('data emptied', { data: { a: '1' } }, { data: {} }),
  configs('data null', { data: { a: '1' } }, { data: null }),
  configs(
    'data with null members from the start',
    { data: { a: null, b: '1' } },
    { data: { a: null, b: '1' } },
  ),
  configs('data unchanged', { data: { a: '1' } }, { data: { a: '1' } }),
  configs(
    'binary data',
    { binaryData: { a: 'AAA=' } },
    { binaryData: { a: 'AAE=', b: 'AAA=' }, data: { c: '' } },
  ),
  configs('immutable data', { immutable: true, data: { a: '1' } }, { immutable: true, data: { a: '2' } }),
  configs(
    'characters that Go escapes',
    { data: { a: '<a href="x">&amp;</a>', b: 'ü €😀\u2028\u2029', c: '\b\f\n\r\t\\"/\u0001\u001f\u007f' } },
    { data: { a: '<b>', b: '😀\uffff\u00a0', c: '' } },
  ),
  configs(
    'keys whose order differs between languages',
    {
      data: { 10: 'a', 9: 'b', A: 'c', a: 'd', _: 'e', 'a.b': 'f', 'a-b': 'g' },
      metadata: { annotations: { 2: 'x', 10: 'y' } },
    },
    { data: { 9: 'b', 100: 'h', a: 'i' } },
  ),
  configs(
    'keys that JavaScript objects have',
    { data: JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') },
    { data: JSON.parse('{"constructor":"d","hasOwnProperty":"e"}') },
  ),
  {
    title: 'a secret by its texts',
    first: namespaced('v1 Secret', { stringData: { a: '1', b: '2' } }),
    second: namespaced('v1 Secret', { stringData: { b: '3' } }),
  },
  {
    title: 'a secret from texts to data',
    first: namespaced('v1 Secret', { stringData: { a: '1' }, type: 'Opaque' }),
    second: namespaced('v1 Secret', { data: { a: 'Mg==', b: 'Mw==' }, type: 'Opaque' }),
  },
  {
    title: 'a secret whose type cannot change',
    first: namespaced('v1 Secret', { data: { a: 'Mg==' } }),
    second: namespaced('v1 Secret', { data: { a: 'Mg==' }, type: 'example.com/other' }),
  },
  {
    title: 'a status in the manifest, which is ignored',
    first: { ...deployment(), status: { replicas: 3, conditions: [{ type: 'A', status: 'True' }] } },
    second: { ...deployment(), status: { replicas: 4, conditions: [{ type: 'B', status: 'True' }] } },
  },
  {
    title: 'a cluster-scoped namespace',
    first: clusterScoped('v1 Namespace', { metadata: { labels: { a: '1' } } }),
    second: clusterScoped('v1 Namespace'),
  },
  {
    title: 'no namespace: the default one',
    first: clusterScoped('v1 ConfigMap', { data: { a: '1' } }),
    second: clusterScoped('v1 ConfigMap', { data: { a: '2' } }),
  },
];

const target = `/api/v1/namespaces/${namespacePlaceholder}/configmaps/${namePlaceholder}`;
const deletion = { method: 'DELETE', target } as const;

const foreignPairs: readonly Pair[] = [
  changed('labels and data that somebody added', { metadata: { labels: { x: '1' } }, data: { x: '1' } }, [
    { metadata: { labels: { a: '1' } }, data: { a: '1' } },
    { data: { b: '2' } },
  ]),
  changed('data that somebody changed back and forth', { data: { a: '9', b: null } }, [
    { data: { a: '1', b: '2', c: '3' } },
    { data: { a: '1', b: '2' } },
  ]),
  changed('data that somebody removed whole', { data: null }, [
    { data: { a: '1', b: '2' } },
    { data: { b: '2' } },
  ]),
  changed('data that somebody added, which the manifest adds too', { data: { b: '2' } }, [
    { data: { a: '1' } },
    { data: { a: '1', b: '2' } },
  ]),
  changed('finalizers that somebody added', { metadata: { finalizers: ['x', 'b', 'a'].map(finalizer) } }, [
    { metadata: { finalizers: ['a', 'b'].map(finalizer) } },
    { metadata: { finalizers: ['c', 'a'].map(finalizer) } },
  ]),
  changed('finalizers that somebody removed', { metadata: { finalizers: null } }, [
    { metadata: { finalizers: ['b', 'a'].map(finalizer) } },
    { metadata: { finalizers: ['b'].map(finalizer) } },
  ]),
  ...(
    [
      ['the annotation that somebody removed', null],
      ['the annotation that somebody emptied', ''],
      ['the annotation that somebody set to null', 'null'],
      ['the annotation that somebody broke', '{"a":'],
      ['the annotation of another manifest', '{"data":{"x":"1","c":"1"}}'],
    ] as const
  ).map(([title, text]) =>
    changed(title, { metadata: { annotations: { [lastApplied]: text } } }, [
      { data: { a: '1', b: '2' } },
      { data: { b: '3' } },
    ]),
  ),
  {
    ...configs(
      'an object that is being deleted',
      { metadata: { finalizers: [finalizer('a')] } },
      { metadata: { finalizers: [finalizer('a')] }, data: { a: '1' } },
    ),
    between: [deletion],
  },
  { ...configs('an object that is gone', { data: { a: '1' } }, { data: { b: '1' } }), between: [deletion] },
];

const replaced = { secondVerb: 'replace' } as const;
const createdAndReplaced = { firstVerb: 'create', ...replaced } as const;
const thenServerSide = { secondVerb: 'serverSide' } as const;
const serverSideTwice = { firstVerb: 'serverSide', ...thenServerSide } as const;
const serverSideByForce = { firstVerb: 'serverSide', secondVerb: 'forceConflicts' } as const;

const verbPairs: readonly Pair[] = [
  { ...configs('created, then applied', { data: { a: '1' } }, { data: { b: '1' } }), firstVerb: 'create' },
  {
    ...configs('applied, then created again', { data: { a: '1' } }, { data: { b: '1' } }),
    secondVerb: 'create',
  },
  {
    ...configs(
      'applied, then replaced',
      { data: { a: '1' }, metadata: { labels: { a: '1' } } },
      { data: { b: '1' } },
    ),
    ...replaced,
  },
  {
    ...metadata(
      'created and replaced with an annotation of the last applied kind',
      { annotations: { [lastApplied]: 'x', a: '1' } },
      { annotations: { [lastApplied]: 'y' } },
    ),
    ...createdAndReplaced,
  },
  { ...metadata('created with a version', { resourceVersion: '5' }, {}), ...createdAndReplaced },
  { ...metadata('replaced at a version that is gone', {}, { resourceVersion: '5' }), secondVerb: 'replace' },
  {
    title: 'a deployment replaced',
    first: deployment({}, { replicas: 3, minReadySeconds: 4 }),
    second: deployment({}, { replicas: 2 }),
    ...replaced,
  },
  {
    title: 'a service replaced, whose address is kept',
    first: namespaced('v1 Service', { spec: { ports: [{ port: 80 }] } }),
    second: namespaced('v1 Service', { spec: { ports: [{ port: 81 }] } }),
    ...replaced,
  },
  {
    ...configs('applied server-side twice', { data: { a: '1', b: '2' } }, { data: { b: '3' } }),
    ...serverSideTwice,
  },
  {
    ...configs(
      'applied, then server-side: migrated',
      { data: { a: '1', b: '2' } },
      { data: { b: '2', c: '1' } },
    ),
    ...thenServerSide,
  },
  {
    ...configs('applied, then server-side with a conflict', { data: { a: '1' } }, { data: { a: '2' } }),
    ...thenServerSide,
  },
  {
    ...configs('applied, then server-side by force', { data: { a: '1', b: '2' } }, { data: { a: '2' } }),
    secondVerb: 'forceConflicts',
  },
  {
    ...configs('server-side, then applied', { data: { a: '1', b: '2' } }, { data: { b: '2' } }),
    firstVerb: 'serverSide',
  },
  {
    title: 'a deployment migrated to server-side apply',
    first: deployment({ volumes: [{ name: 'a', emptyDir: {} }] }, { replicas: 2, minReadySeconds: 3 }),
    second: deployment({ nodeSelector: { a: 'b' } }, { replicas: 2 }),
    ...thenServerSide,
  },
  {
    ...changed('server-side by force over somebody', { data: { a: '9', x: '1' } }, [
      { data: { a: '1' } },
      { data: { a: '2' } },
    ]),
    ...serverSideByForce,
  },
  {
    ...changed('server-side against somebody', { data: { a: '9' } }, [
      { data: { a: '1' } },
      { data: { a: '2' } },
    ]),
    ...serverSideTwice,
  },
  {
    title: 'a field that does not exist, server-side',
    first: deployment(),
    second: deployment({}, { replicaz: 1 }),
    ...thenServerSide,
  },
];

export const states: readonly Pair[] = [...metadataPairs, ...dataPairs, ...foreignPairs, ...verbPairs];
