import { type Moniker, parseMoniker } from '#core/frigga.ts';
import type { EncodedMoniker } from './facts-schema.ts';

/** The moniker in its short form; undefined if the object's name says the same. */
export function encodeMoniker(moniker: Moniker, name: string): EncodedMoniker | undefined {
  if (isSameMoniker(moniker, getNamedMoniker(name))) return undefined;
  const { app, cluster, stack, detail, sequence } = moniker;
  return {
    ...(app !== undefined && { a: app }),
    ...(cluster !== undefined && { c: cluster }),
    ...(stack !== undefined && { s: stack }),
    ...(detail !== undefined && { d: detail }),
    ...(sequence !== undefined && { q: sequence }),
  };
}

/** Inverse of {@link encodeMoniker}. */
export function decodeMoniker(encoded: EncodedMoniker | undefined, name: string): Moniker {
  if (encoded === undefined) return getNamedMoniker(name);
  const { a: app, c: cluster, s: stack, d: detail, q: sequence } = encoded;
  return {
    ...(app !== undefined && { app }),
    ...(cluster !== undefined && { cluster }),
    ...(stack !== undefined && { stack }),
    ...(detail !== undefined && { detail }),
    ...(sequence !== undefined && { sequence }),
  };
}

/** The moniker of an object without annotations: stack and detail are never taken from a name. */
export function getNamedMoniker(name: string): Moniker {
  const { stack: _, detail: __, ...moniker } = parseMoniker(name);
  return moniker;
}

/** Whether two monikers say the same. */
export function isSameMoniker(one: Moniker, other: Moniker): boolean {
  return (
    one.app === other.app &&
    one.cluster === other.cluster &&
    one.stack === other.stack &&
    one.detail === other.detail &&
    one.sequence === other.sequence
  );
}
