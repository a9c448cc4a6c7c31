import type * as engine from '#caching/writer/object-change.ts';
import type { ObjectFacts } from '../rows/facts.ts';

/** A change of an account's object: of the facts that are cached of it. */
export type ObjectChange = engine.ObjectChange<ObjectFacts>;

/** An object about to be written. */
export type ExpectedObject = engine.ExpectedObject<ObjectFacts>;

/** Writes changes of objects into the cache. */
export type CacheWriter = engine.CacheWriter<ObjectFacts>;
