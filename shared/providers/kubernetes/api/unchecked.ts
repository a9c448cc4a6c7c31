import type { JsonObject, JsonValue } from '#core/json.ts';

/** Names the elements of an {@link UncheckedList}; nothing has such a member at run time. */
declare const elements: unique symbol;

/** A value that Kubernetes defines as a list of `Element`. It may be anything: {@link readList} reads it. */
export interface UncheckedList<Element> {
  readonly [elements]?: Element;
}

/**
 * A JSON object that Kubernetes defines as a `T`, such as `V1Deployment`, from a cluster or cache that may lie: its members have the names
 * of `T`, so that unknown names fail to compile, and unchecked values.
 */
export type UncheckedObject<T> = { readonly [Key in keyof T]?: Unchecked<NonNullable<T[Key]>> };

/**
 * A value that Kubernetes defines as a `T`. Objects are read with `?.`, which works on any JSON value. Lists are read with {@link
 * readList}; texts, numbers, flags, times and maps are JSON values that their readers must check.
 */
export type Unchecked<T> = 0 extends 1 & T
  ? JsonValue | undefined
  : T extends readonly (infer Element)[]
    ? UncheckedList<Element> | null | undefined
    : T extends Date
      ? JsonValue | undefined
      : T extends object
        ? string extends keyof T
          ? JsonValue | undefined
          : UncheckedObject<T> | null | undefined
        : JsonValue | undefined;

/** The object with the names of `T`, unchanged and unchecked. */
export function asUnchecked<T>(object: JsonObject): UncheckedObject<T> {
  return object as UncheckedObject<T>;
}

/** The elements of a list, each unchecked; none if it is not a list. */
export function readList<Element>(
  list: UncheckedList<Element> | null | undefined,
): readonly Unchecked<Element>[] {
  return Array.isArray(list) ? list : [];
}

/** A number, or undefined for anything else. */
export function findNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
