import type * as z from 'zod';

/** A value of which no part can be changed: what a schema describes, as the code that builds answers sees it. */
type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** What a schema of an answer describes. */
export type Answer<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;
