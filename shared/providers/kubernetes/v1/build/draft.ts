import type { JsonObject, JsonValue } from '#core/json.ts';

/** An object that Kubernetes defines as a `T`, while it is built: undefined members are left out. */
export type Draft<T> = T extends readonly (infer Element)[]
  ? readonly Draft<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Draft<NonNullable<T[Key]>> | undefined }
    : T;

/** The object as JSON, without members that are undefined. */
export function finishDraft<T>(draft: Draft<T> & object): JsonObject {
  return Object.fromEntries(listMembers(draft));
}

function listMembers(value: object): [string, JsonValue][] {
  return Object.entries(value).flatMap(([key, member]): [string, JsonValue][] =>
    member === undefined ? [] : [[key, toValue(member)]],
  );
}

function toValue(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(toValue);
  if (typeof value === 'object' && value !== null) return Object.fromEntries(listMembers(value));
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isScalar ? value : null;
}

/** The list, or undefined for one without items. */
export function findItems<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The map, or undefined for one without members. */
export function findMembers<T extends object>(map: T): T | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}
