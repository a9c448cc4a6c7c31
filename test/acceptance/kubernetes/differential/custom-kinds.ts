import type { JsonObject } from '#core/json.ts';

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
