import { isDeepStrictEqual } from 'node:util';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { PatchField, PatchType } from '#providers/kubernetes/apply/patch-schema.ts';

/** The two tables of `patch-schema.generated.json`. */
export interface PatchSchema {
  /** Name of the type of each kind that takes strategic merge patches, by apiVersion and kind. */
  readonly kinds: Record<string, Record<string, string>>;
  /** The fields with rules, by name of the type. */
  readonly types: Record<string, PatchType>;
}

/** The type of all that have rules for nothing but their metadata. */
const metadataOnly = 'meta.v1.PartialObjectMetadata';
const metadataOnlyType: PatchType = { metadata: { type: 'meta.v1.ObjectMeta' } };

/**
 * Reads the patch rules out of what an API server publishes.
 *
 * @param documents the OpenAPI v3 document of each group and version
 */
export function parsePatchSchema(documents: readonly JsonObject[]): PatchSchema {
  const read = createTypeReader(Object.assign({}, ...documents.map(getSchemas)));
  const kinds: Record<string, Record<string, string>> = {};
  for (const { apiVersion, kind, schemaName } of documents.flatMap(listPatchableKinds)) {
    kinds[apiVersion] = { ...kinds[apiVersion], [kind]: read.readType(schemaName) ?? metadataOnly };
  }
  return mergeEqualTypes({ kinds, types: read.types });
}

/** The tables with one type, the first by name, in place of all that have the same rules. */
function mergeEqualTypes({ kinds, types }: PatchSchema): PatchSchema {
  const toText = (name: string): string => JSON.stringify(sortEntries(types[name] ?? {}));
  const names = Object.keys(types).sort();
  const firsts = new Map(names.toReversed().map((name) => [toText(name), name]));
  if (firsts.size === names.length) return { kinds, types };
  const rename = (name: string): string => firsts.get(toText(name)) ?? name;
  const renameInner = (field: PatchField): PatchField =>
    field.type === undefined ? field : { ...field, type: rename(field.type) };
  return mergeEqualTypes({
    kinds: mapValues(kinds, (row) => mapValues(row, rename)),
    types: Object.fromEntries(
      [...firsts.values()].map((name) => [name, mapValues(types[name] ?? {}, renameInner)]),
    ),
  });
}

function mapValues<A, B>(table: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value)]));
}

/** The text of `patch-schema.generated.json`: types and kinds by name, each in a line. */
export function formatPatchSchema({ kinds, types }: PatchSchema, version: string): string {
  const source = `OpenAPI v3 documents of Kubernetes ${version}`;
  return `{
"source": ${JSON.stringify(source)},
"kinds": ${formatSorted(groupByType(kinds))},
"types": ${formatSorted(types)}
}
`;
}

interface PatchableKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schemaName: string;
}

/** The kinds of a group and version whose objects (not subresources) take strategic merge patches. */
function listPatchableKinds(document: JsonObject): PatchableKind[] {
  const paths = Object.entries(asJsonObject(document.paths) ?? {});
  const identities = paths
    .filter(([target]) => target.endsWith('/{name}'))
    .map(([, operations]) => asJsonObject(getPath(operations, 'patch')) ?? {})
    .filter(takesStrategicPatch)
    .map((operation) => operation[identityKey]);
  return identities.map((identity) => ({
    apiVersion: [getPath(identity, 'group'), getPath(identity, 'version')].filter(Boolean).join('/'),
    kind: asString(getPath(identity, 'kind')) ?? '',
    schemaName: findSchemaName(document, identity),
  }));
}

const identityKey = 'x-kubernetes-group-version-kind';

function takesStrategicPatch(operation: JsonObject): boolean {
  const contentType = 'application/strategic-merge-patch+json';
  return getPath(operation, 'requestBody', 'content', contentType) !== undefined;
}

function findSchemaName(document: JsonObject, identity: JsonValue | undefined): string {
  const found = Object.entries(getSchemas(document)).find(([, schema]) =>
    asJsonArray(getPath(schema, identityKey)).some((each) => isDeepStrictEqual(each, identity)),
  );
  if (found === undefined) throw new Error(`No schema of ${JSON.stringify(identity)}`);
  return found[0];
}

/** Reads types, each once, with all they refer to, into `types`. */
function createTypeReader(schemas: JsonObject) {
  const types: Record<string, PatchType> = { [metadataOnly]: metadataOnlyType };
  const names = new Map<string, string | undefined>();

  /** @returns the name of the type in `types`; undefined when no rule can be reached from it */
  function readType(schemaName: string): string | undefined {
    if (names.has(schemaName)) return names.get(schemaName);
    names.set(schemaName, undefined); // in case it contains itself
    const type = readFields(asJsonObject(getPath(schemas, schemaName, 'properties')) ?? {});
    const name = isDeepStrictEqual(type, metadataOnlyType) ? metadataOnly : shortenName(schemaName);
    if (Object.keys(type).length === 0) return undefined;
    types[name] = type;
    names.set(schemaName, name);
    return name;
  }

  function readFields(properties: JsonObject): PatchType {
    const fields = Object.entries(properties).map(
      ([key, property]) => [key, readField(asJsonObject(property) ?? {})] as const,
    );
    return Object.fromEntries(fields.filter(([, field]) => Object.keys(field).length > 0));
  }

  function readField(property: JsonObject): PatchField {
    const strategies = (asString(property['x-kubernetes-patch-strategy']) ?? '').split(',');
    const mergeKey = asString(property['x-kubernetes-patch-merge-key']);
    const strategy = strategies.find((each) => each === 'merge' || each === 'replace');
    const inner = findInnerSchemaName(property, strategy);
    const type = inner === undefined ? undefined : readType(inner);
    return {
      ...(strategy && { strategy }),
      ...(mergeKey && { mergeKey }),
      ...(strategies.includes('retainKeys') && { retainKeys: true as const }),
      ...(type && { type }),
    };
  }

  return { types, readType };
}

/** The type of an object field, or of a merged list's elements: nobody looks into lists that are replaced. */
function findInnerSchemaName(property: JsonObject, strategy: string | undefined): string | undefined {
  if (property.type === 'array' && strategy !== 'merge') return undefined;
  const schema = property.type === 'array' ? property.items : property;
  const reference = asString(getPath(asJsonArray(getPath(schema, 'allOf'))[0] ?? schema, '$ref'));
  return reference?.replace('#/components/schemas/', '');
}

function getSchemas(document: JsonObject): JsonObject {
  return asJsonObject(getPath(document, 'components', 'schemas')) ?? {};
}

/** `io.k8s.api.core.v1.PodSpec` as `core.v1.PodSpec`. */
function shortenName(name: string): string {
  return name.split('.').slice(-3).join('.');
}

/** The kinds of each apiVersion in one text for each type. */
function groupByType(kinds: PatchSchema['kinds']): Record<string, Record<string, string>> {
  return mapValues(kinds, (row) => {
    const groups = Map.groupBy(Object.keys(row).sort(), (kind) => row[kind] ?? '');
    return mapValues(Object.fromEntries(groups), (members) => members.join(' '));
  });
}

function formatSorted(table: Record<string, Record<string, unknown>>): string {
  const rows = sortEntries(table).map(
    ([key, row]) => `${JSON.stringify(key)}: ${JSON.stringify(Object.fromEntries(sortEntries(row)))}`,
  );
  return `{\n${rows.join(',\n')}\n}`;
}

function sortEntries<Value>(table: Record<string, Value>): [string, Value][] {
  return Object.entries(table).sort(([left], [right]) => (left < right ? -1 : 1));
}
