import type { CacheStore } from '#caching/store/cache-store.ts';
import type { Revision } from '#caching/store/revision.ts';
import type { Clock } from '#core/clock.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { getResourceVersion, type ListPage } from '../client/list-pages.ts';
import { getRowName } from '../rows/row-names.ts';
import { type CatchUpOutcome, catchUpKind } from '../watch/catch-up-kind.ts';
import type { KindScope, WatchChange } from '../watch/watch.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { isComparable, type ObjectConversion } from './object-conversion.ts';

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

/** What a catch-up told. */
export interface CaughtUpScope {
  readonly outcome: CatchUpOutcome;
  /** What is to be written before the resource version of the outcome may be relied on. */
  readonly changes: readonly ObjectChange[];
  /** Objects created, less those deleted. */
  readonly added: number;
}

/** Changed objects that are held in memory at most, of each scope; more of them are written as they come. */
const mostChanges = 2_000;
/** Objects that are evicted at a time. */
const evictionSize = 500;

/**
 * Tells what changed in a scope since its resource version.
 *
 * @param awaitsBookmark see `CatchUpRequest`.
 */
export async function catchUpScope(
  scope: WatchedScope,
  tools: ScopeTools,
  awaitsBookmark: boolean,
): Promise<CaughtUpScope> {
  const { watches, clock, signal, write, conversion } = tools;
  // Of each object the last: a storm of changes takes no more room than the objects.
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
          told.set(getRowName(change), change);
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

/** What a list came to. */
export interface ListedScope {
  readonly outcome: CatchUpOutcome;
  /** Objects that are kept. */
  readonly items: number;
  /** Objects that were cached and that the list lacks. */
  readonly evicted: number;
}

/** How to list a scope. */
export interface ListScopeOptions {
  /** How many of the listed objects are looked at, those that come first. Default: all. */
  readonly most?: number | undefined;
  /** Which of a page's kept objects are to be written. Default: all. */
  readonly sift?: (kept: readonly ObjectChange[]) => readonly ObjectChange[];
  /** Called before what the list lacks is evicted. */
  readonly onListed?: (resourceVersion: string) => Promise<void>;
}

/**
 * Objects of a list that are written together. Rows of views share items, so that each of these is written once for thousands of
 * objects instead of once a page; in memory they take some megabytes.
 */
const mostGathered = 5_000;
/** Of whole objects, as V1 accounts have them, so many take some megabytes. */
const mostGatheredWhole = 500;

/** Lists a scope: caches what is to be kept, thousands of objects at a time, and evicts what the list lacks. */
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
    // What is kept of them is small. Writing takes its time, and the large answers of others need not wait for it.
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
    // What is newer than the list is told by the changes since.
    findEviction: (head) =>
      head.revision <= revision && !listed.has(toName(head.key)) ? revision : undefined,
  });
  return { outcome, items: listed.size, evicted };
}

function getMostGathered([first]: readonly ObjectChange[]): number {
  return first?.facts?.object === undefined ? mostGathered : mostGatheredWhole;
}

/** What breaks off the list of a kind whose objects cannot be told older from newer. */
function createVersionsError(kind: string): KubernetesConnectionError {
  return new KubernetesConnectionError(`${kind}: its API server gives resource versions that are no numbers`);
}

/** Tells objects of a kind apart. */
export function toName({ namespace, name }: Pick<ObjectChange, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** What to evict. */
export interface Eviction {
  readonly kind: string;
  /** Only of this namespace; undefined for all. */
  readonly namespace?: string | undefined;
  /** The version at which an object counts as gone; undefined for one that stays. */
  findEviction(head: {
    readonly key: { readonly namespace: string; readonly name: string };
    readonly revision: Revision;
  }): Revision | undefined;
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
      const revision = findEviction(head);
      if (revision === undefined) continue;
      const { namespace, name } = head.key;
      gone.push({ kind, namespace, name, revision, seenAt: revision, facts: undefined });
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
