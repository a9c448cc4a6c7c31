import type { CacheStore, ObjectHead } from '#caching/store/cache-store.ts';
import { getObjectName } from '#caching/store/object-names.ts';
import type { Revision } from '#caching/store/revision.ts';
import type { Clock } from '#core/clock.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { getResourceVersion, type ListPage } from '../client/list-pages.ts';
import { type CatchUpOutcome, catchUpKind } from '../watch/catch-up-kind.ts';
import type { KindScope, WatchChange } from '../watch/watch.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { isComparable, type ObjectConversion } from './object-conversion.ts';

/** The tools for reading and caching scopes. */
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
  /** True for changes from a list, to which the account's limits were already applied. Default: false. */
  readonly isListed?: boolean;
}

/** The result of a catch-up. */
export interface CaughtUpScope {
  readonly outcome: CatchUpOutcome;
  /** Changes to write before the outcome's resource version may be relied on. */
  readonly changes: readonly ObjectChange[];
  /** Objects created, less those deleted. */
  readonly added: number;
}

/** The most changed objects held in memory for each scope; further ones are written as they come. */
const mostChanges = 2_000;
/** Objects that are evicted at a time. */
const evictionSize = 500;

/**
 * Finds what changed in a scope since its resource version.
 *
 * @param awaitsBookmark see `CatchUpRequest`.
 */
export async function catchUpScope(
  scope: WatchedScope,
  tools: ScopeTools,
  awaitsBookmark: boolean,
): Promise<CaughtUpScope> {
  const { watches, clock, signal, write, conversion } = tools;
  // Only the last change of each object: a storm of changes takes no more room than the objects.
  const told = new Map<string, ObjectChange>();
  let added = 0;
  const take = (resourceVersion = ''): ObjectChange[] => {
    if (told.size === 0) return [];
    const readTo = conversion.toRevision(resourceVersion || '0');
    const changes = [...told.values()].map((change) =>
      change.seenAt < readTo ? { ...change, seenAt: readTo } : change,
    );
    told.clear();
    return changes;
  };
  const request = {
    ...toKindScope(scope),
    resourceVersion: scope.state.resourceVersion,
    awaitsBookmark,
    signal,
  };
  const outcome = await catchUpKind(
    {
      ...request,
      onPage: () => undefined,
      async onChanges(changes) {
        const resourceVersion = getResourceVersion(changes.at(-1)?.object);
        for (const change of conversion.toChanges(changes, resourceVersion))
          told.set(getObjectName(change), change);
        added += countAdded(changes);
        if (told.size >= mostChanges) await write(take(resourceVersion));
      },
    },
    { client: watches, clock },
  );
  return { outcome, changes: take(outcome.resourceVersion), added };
}

/** Objects created by changes, less those deleted. */
export function countAdded(changes: readonly WatchChange[]): number {
  return changes.reduce((sum, { type }) => sum + addedByType[type], 0);
}

const addedByType = { ADDED: 1, MODIFIED: 0, DELETED: -1 } as const;

/** The result of a list. */
export interface ListedScope {
  readonly outcome: CatchUpOutcome;
  /** Objects that are kept. */
  readonly items: number;
  /** Objects that were cached and that the list lacks. */
  readonly evicted: number;
}

/** How to list a scope. */
export interface ListScopeOptions {
  /** How many of the listed objects count, the first ones. Default: all. */
  readonly most?: number | undefined;
  /** Returns which of a page's kept objects to write. Default: all. */
  readonly sift?: (kept: readonly ObjectChange[]) => readonly ObjectChange[];
  /** Called before objects missing from the list are evicted. */
  readonly onListed?: (resourceVersion: string) => Promise<void>;
}

/**
 * Objects of a list that are written together. Rows of views share items, each of which is then written once for thousands of objects
 * instead of once a page. In memory the objects take some megabytes.
 */
const mostGathered = 5_000;
/** The same for whole objects, as V1 accounts cache them; these take some megabytes, too. */
const mostGatheredWhole = 500;

/** Lists a scope: caches the objects to keep, thousands at a time, and evicts those missing from the list. */
export async function listScope(
  scope: WatchedScope,
  tools: ScopeTools,
  options: ListScopeOptions,
): Promise<ListedScope> {
  const { conversion, watches, clock, signal, write } = tools;
  const { most = Number.POSITIVE_INFINITY, sift = (kept) => kept, onListed } = options;
  const listed = new Set<string>();
  let gathered: ObjectChange[] = [];
  let left = most;
  const writeGathered = async (): Promise<void> => {
    const changes = gathered;
    gathered = [];
    await write(changes, { isListed: true });
  };
  const onPage = async (page: ListPage): Promise<void> => {
    if (!isComparable(page.resourceVersion)) throw createVersionsError(scope.kind.kind);
    const seenAt = conversion.toRevision(page.resourceVersion);
    const objects = page.items.slice(0, left);
    left -= objects.length;
    const kept = objects.flatMap((object) => conversion.toKept(object, seenAt) ?? []);
    for (const change of kept) listed.add(toName(change));
    const sifted = sift(kept);
    // What is kept of them is small. Writing takes time, and the large responses of other lists need not wait for it.
    page.release();
    for (const change of sifted) gathered.push(change);
    if (gathered.length >= getMostGathered(gathered)) await writeGathered();
  };
  const request = {
    ...toKindScope(scope),
    resourceVersion: undefined,
    signal,
    onPage,
    onChanges: () => undefined,
  };
  const outcome = await catchUpKind(request, { client: watches, clock });
  await writeGathered();
  const { resourceVersion } = outcome;
  if (outcome.outcome !== 'listed' || resourceVersion === undefined)
    return { outcome, items: listed.size, evicted: 0 };
  await onListed?.(resourceVersion);
  const revision = conversion.toRevision(resourceVersion);
  const evicted = await evict(tools, {
    kind: scope.kind.kind,
    namespace: scope.namespace || undefined,
    // Anything newer than the list comes with later changes.
    findEviction: (head) =>
      head.revision <= revision && !listed.has(toName(head.key)) ? revision : undefined,
  });
  return { outcome, items: listed.size, evicted };
}

function getMostGathered([first]: readonly ObjectChange[]): number {
  return first?.facts?.object === undefined ? mostGathered : mostGatheredWhole;
}

/** The error for a kind whose objects' versions cannot be ordered. */
function createVersionsError(kind: string): KubernetesConnectionError {
  return new KubernetesConnectionError(`${kind}: its API server gives resource versions that are no numbers`);
}

/** Identifies an object among those of its kind. */
export function toName({ location: namespace, name }: Pick<ObjectChange, 'location' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** What to evict. */
export interface Eviction {
  readonly kind: string;
  /** Only of this namespace; undefined for all. */
  readonly namespace?: string | undefined;
  /** The revision at which an object counts as gone; undefined for one that stays. */
  findEviction(head: Pick<ObjectHead, 'key' | 'revision'>): Revision | undefined;
}

/** Evicts objects of a kind from the cache. @returns how many were to be evicted */
export async function evict(
  { account, cache, signal, write }: Pick<ScopeTools, 'account' | 'cache' | 'signal' | 'write'>,
  { kind, namespace, findEviction }: Eviction,
): Promise<number> {
  let gone: ObjectChange[] = [];
  let count = 0;
  for await (const page of cache.listHeads(account, kind, { location: namespace })) {
    signal.throwIfAborted();
    for (const head of page) {
      const revision = findEviction(head);
      if (revision === undefined) continue;
      const { location: namespace, name } = head.key;
      gone.push({ kind, location: namespace, name, revision, seenAt: revision, facts: undefined });
    }
    if (gone.length < evictionSize) continue;
    count += gone.length;
    await write(gone);
    gone = [];
  }
  if (gone.length > 0) await write(gone);
  return count + gone.length;
}

function toKindScope({ kind, namespace }: WatchedScope): KindScope {
  const { resource, isMetadataOnly: metadataOnly } = kind;
  return { resource, namespace: namespace || undefined, metadataOnly };
}
