import type { ObjectKey } from './cache-store.ts';

/** What identifies an object of an account. */
export type NamedObject = Pick<ObjectKey, 'kind' | 'location' | 'name'>;

/** An object's name among all of its account: `replicaSet shop cart-v003`. */
export function getObjectName({ kind, location, name }: NamedObject): string {
  return `${kind} ${location} ${name}`;
}

/** The readable form of such a name, which rows have, too: `replicaSet cart-v003 in shop`. */
export function describeName(text: string): string {
  const [kind, location, name] = text.split(' ');
  return location === '' ? `${kind} ${name}` : `${kind} ${name} in ${location}`;
}
