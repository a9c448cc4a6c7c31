import schema from './patch-schema.generated.json' with { type: 'json' };

/** How a strategic merge patch treats one field of a built-in type. A field that is not listed has no rule. */
export interface PatchField {
  /**
   * `merge`: the list's elements are merged with those of the live list, instead of replacing it.
   * `replace`: the object replaces the live one whole, instead of being merged into it.
   */
  readonly strategy?: 'merge' | 'replace';
  /** The member that identifies an element of a merged list; absent for lists of scalars. */
  readonly mergeKey?: string;
  /** The patch names the members to keep; the API server clears all others (unions such as a volume's source). */
  readonly retainKeys?: true;
  /** Name of the type of the object, or of the list's elements, if that type has its own rules. */
  readonly type?: string;
}

/** The fields of one type that have rules. */
export type PatchType = Readonly<Record<string, PatchField>>;

/** The patch rules of a kind's fields, by type: types and fields that lead to no rule are left out, and of equal types all but the first. */
const typeTable = schema.types as Readonly<Record<string, PatchType>>;
/** The names of types by apiVersion and kind, separated by a space; the table has the kinds of one type in one text. */
const kindTypes: ReadonlyMap<string, string> = new Map(
  Object.entries(schema.kinds).flatMap(([apiVersion, types]) =>
    Object.entries<string>(types).flatMap(([type, kinds]) =>
      kinds.split(' ').map((kind) => [`${apiVersion} ${kind}`, type] as const),
    ),
  ),
);
const plainField: PatchField = {};
const plainType: PatchType = {};

/**
 * The patch rules of a kind built into Kubernetes, as its API server publishes them (OpenAPI v3).
 *
 * @returns undefined for kinds without strategic merge patches: custom resources and kinds of aggregated APIs
 */
export function findPatchType(apiVersion: string, kind: string): PatchType | undefined {
  const name = kindTypes.get(`${apiVersion} ${kind}`);
  return name === undefined ? undefined : typeTable[name];
}

/** The rule of a type's field; empty if there is none. */
export function getPatchField(type: PatchType, key: string): PatchField {
  return (Object.hasOwn(type, key) ? type[key] : undefined) ?? plainField;
}

/** The rules inside a field: of its object, or of its list's elements. Empty if there are none. */
export function getInnerType(field: PatchField): PatchType {
  return typeTable[field.type ?? ''] ?? plainType;
}
