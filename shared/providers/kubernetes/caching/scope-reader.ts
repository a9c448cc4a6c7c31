import type { CacheStore } from '../../../core/cache/cache-store.ts';
import type { Version } from '../../../core/cache/version.ts';
import type { Clock } from '../../../core/clock.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { getResourceVersion, type ListPage } from '../client/list-pages.ts';
import { type DrainOutcome, drainKind } from '../watch/drain-kind.ts';
import type { KindScope, WatchChange } from '../watch/watch.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { getChangeKey, isComparable, type ObjectConversion } from './object-conversion.ts';

/** What reading scopes and caching them needs. */
export interface ScopeTools {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'listHeads'>;
  readonly watches: WatchClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly conversion: ObjectConversion;
  /** Writes changes. */
  readonly write: (changes: readonly ObjectChange[], options?: ScopeWrite) => Promise<void>;
}

/** How changes are written. */
export interface ScopeWrite {
  /** They are of a list, from which was taken what a limit of the account leaves. Default: false. */
  readonly isListed?: boolean;
}

/** What a drain told. */
export interface DrainedScope {
  readonly outcome: DrainOutcome;
  /** What is to be written before the position of the outcome may be relied on. */
  readonly changes: readonly ObjectChange[];
  /** Objects created, less those deleted. */
  readonly added: number;
}

/** Changed objects that are held in memory at most, of each scope; more of them are written as they come. */
const mostChanges = 2_000;
/** Objects that are evicted at a time. */
const evictionSize = 500;

/**
 * Tells what changed in a scope since its position.
 *
 * @param awaitsBookmark see `DrainRequest`.
 */
export async function drainScope(
  scope: WatchedScope,
  tools: ScopeTools,
  awaitsBookmark: boolean,
): Promise<DrainedScope> {
  const { watches, clock, signal, write } = tools;
  const told = new ToldChanges(tools.conversion);
  const outcome = await drainKind(
    {
      ...toKindScope(scope),
      position: scope.state.position,
      awaitsBookmark,
      signal,
      onPage: () => undefined,
      async onChanges(changes) {
        told.add(changes);
        if (told.size >= mostChanges) await write(told.take());
      },
    },
    { client: watches, clock },
  );
  return { outcome, changes: told.take(outcome.position), added: told.added };
}

/** What a stream has told, the last of each object: a storm of changes takes no more room than the objects. */
class ToldChanges {
  /** Objects created, less those deleted. */
  added = 0;
  readonly #conversion: ObjectConversion;
  readonly #last = new Map<string, ObjectChange>();
  #position = '';

  constructor(conversion: ObjectConversion) {
    this.#conversion = conversion;
  }

  get size(): number {
    return this.#last.size;
  }

  add(changes: readonly WatchChange[]): void {
    this.#position = getResourceVersion(changes.at(-1)?.object);
    for (const change of this.#conversion.toChanges(changes, this.#position)) {
      this.#last.set(getChangeKey(change), change);
    }
    for (const { type } of changes) {
      if (type === 'ADDED') this.added += 1;
      if (type === 'DELETED') this.added -= 1;
    }
  }

  /** What was told since the last time. @param position how far the stream has come; default: to the last change */
  take(position = this.#position): ObjectChange[] {
    if (this.#last.size === 0) return [];
    const seenAt = this.#conversion.toVersion(position);
    const changes = [...this.#last.values()].map((change) => ({
      ...change,
      seenAt: seenAt < change.version ? change.version : seenAt,
    }));
    this.#last.clear();
    return changes;
  }
}

/** What a list came to. */
export interface ListedScope {
  readonly outcome: DrainOutcome;
  /** Objects that are kept. */
  readonly items: number;
  /** Objects that were cached and that the list lacks. */
  readonly evicted: number;
}

/** How to list a scope. */
export interface ListScopeOptions {
  /** Which of a page's objects are to be kept at all. Default: all. */
  readonly select?: (page: ListPage) => ListPage['items'];
  /** Which of a page's kept objects are to be written. Default: all. */
  readonly sift?: (kept: readonly ObjectChange[], page: ListPage) => readonly ObjectChange[];
  /** Called before what the list lacks is evicted. */
  readonly onListed?: (resourceVersion: string) => Promise<void>;
}

/**
 * Objects of a list that are written together. Rows of views share items, so that each of these is written once for thousands of
 * objects instead of once a page; in memory they take some megabytes.
 */
const mostGathered = 5_000;

/** Lists a scope: caches what is to be kept, thousands of objects at a time, and evicts what the list lacks. */
export async function listScope(
  scope: WatchedScope,
  tools: ScopeTools,
  options: ListScopeOptions,
): Promise<ListedScope> {
  const { conversion, watches, clock, signal, write } = tools;
  const { select = ({ items }) => items, sift = (kept) => kept, onListed } = options;
  const listed = new ListedObjects();
  let gathered: ObjectChange[] = [];
  let attempt = 1;
  const writeGathered = async (): Promise<void> => {
    const changes = gathered;
    gathered = [];
    await write(changes, { isListed: true });
  };
  const onPage = async (page: ListPage): Promise<void> => {
    if (!isComparable(page.resourceVersion)) throw new IncomparableVersionsError(scope.kind.kind);
    const seenAt = conversion.toVersion(page.resourceVersion);
    const objects = select(page).map((object) => conversion.toKept(object, seenAt));
    const kept = objects.filter((change) => change !== undefined);
    const sifted = sift(kept, page);
    listed.take(page.attempt, kept);
    // What is kept of them is small. Writing takes its time, and the large answers of others need not wait for it.
    page.release();
    if (page.attempt !== attempt) await writeGathered();
    attempt = page.attempt;
    for (const change of sifted) gathered.push(change);
    if (gathered.length >= mostGathered) await writeGathered();
  };
  const request = { ...toKindScope(scope), position: undefined, signal, onPage, onChanges: () => undefined };
  const outcome = await drainKind(request, { client: watches, clock }).catch(toBroken);
  await writeGathered();
  const { position } = outcome;
  if (outcome.outcome !== 'listed' || position === undefined)
    return { outcome, items: listed.count, evicted: 0 };
  await onListed?.(position);
  const evicted = await evictUnlisted(scope, tools, { listed, version: conversion.toVersion(position) });
  return { outcome, items: listed.count, evicted };
}

/** Thrown for a kind whose objects cannot be told older from newer. */
class IncomparableVersionsError extends Error {
  override name = 'IncomparableVersionsError';

  constructor(kind: string) {
    super(`${kind}: its API server gives resource versions that are no numbers`);
  }
}

function toBroken(error: unknown): DrainOutcome {
  if (!(error instanceof IncomparableVersionsError)) throw error;
  return { outcome: 'broken', position: undefined, asOfMs: undefined, count: 0, error };
}

/** The names that a list has. */
class ListedObjects {
  #names = new Set<string>();
  #attempt = 1;

  get count(): number {
    return this.#names.size;
  }

  has({ namespace, name }: Pick<ObjectChange, 'namespace' | 'name'>): boolean {
    return this.#names.has(`${namespace}/${name}`);
  }

  take(attempt: number, objects: readonly ObjectChange[]): void {
    if (attempt > this.#attempt) this.#names = new Set();
    this.#attempt = attempt;
    for (const { namespace, name } of objects) this.#names.add(`${namespace}/${name}`);
  }
}

async function evictUnlisted(
  { kind: { kind }, namespace }: WatchedScope,
  tools: ScopeTools,
  { listed, version }: { readonly listed: ListedObjects; readonly version: Version },
): Promise<number> {
  return evict(tools, {
    kind,
    namespace: namespace || undefined,
    // What is newer than the list is told by the changes since.
    findEviction: (head) => (head.version <= version && !listed.has(head.key) ? version : undefined),
  });
}

/** What to evict. */
export interface Eviction {
  readonly kind: string;
  /** Only of this namespace; undefined for all. */
  readonly namespace?: string | undefined;
  /** The version at which an object counts as gone; undefined for one that stays. */
  findEviction(head: {
    readonly key: { readonly namespace: string; readonly name: string };
    readonly version: Version;
  }): Version | undefined;
}

/** Takes objects of a kind out of the cache. @returns how many were meant */
export async function evict(
  { account, cache, signal, write }: Pick<ScopeTools, 'account' | 'cache' | 'signal' | 'write'>,
  { kind, namespace, findEviction }: Eviction,
): Promise<number> {
  let gone: ObjectChange[] = [];
  let count = 0;
  for await (const page of cache.listHeads(account, kind, { namespace })) {
    signal.throwIfAborted();
    for (const head of page) {
      const version = findEviction(head);
      if (version === undefined) continue;
      const { namespace, name } = head.key;
      gone.push({ kind, namespace, name, version, seenAt: version, facts: undefined });
    }
    if (gone.length < evictionSize) continue;
    count += gone.length;
    await write(gone);
    gone = [];
  }
  if (gone.length > 0) await write(gone);
  return count + gone.length;
}

function toKindScope({ kind: { resource }, namespace }: WatchedScope): KindScope {
  return { resource, namespace: namespace || undefined };
}
