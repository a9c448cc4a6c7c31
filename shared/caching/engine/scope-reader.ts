import type { Clock } from '#core/clock.ts';
import type { CacheStore, ObjectHead } from '../store/cache-store.ts';
import { getObjectName } from '../store/object-names.ts';
import { type Revision, toRevision } from '../store/revision.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import type { ObjectChange } from '../writer/object-change.ts';
import type { StatedScope } from './kind-scopes.ts';
import type { FoundPage, OpenSource, ReadOutcome, Scope } from './scope-source.ts';

/** The tools for reading and caching scopes. */
export interface ScopeTools<Facts> {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'listHeads'>;
  readonly source: OpenSource<Facts>;
  readonly model: CacheModel<Facts>;
  readonly epoch: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Writes changes. */
  readonly write: (changes: readonly ObjectChange<Facts>[], options?: ScopeWrite) => Promise<void>;
}

/** How changes are written. */
export interface ScopeWrite {
  /** True for changes from a list, to which the account's limits were already applied. Default: false. */
  readonly isListed?: boolean;
}

/** The result of a catch-up. */
export interface CaughtUpScope<Facts> {
  readonly outcome: ReadOutcome;
  /** Changes to write before the outcome's position may be relied on. */
  readonly changes: readonly ObjectChange<Facts>[];
  /** Objects created, less those deleted. */
  readonly added: number;
}

/** The most changed objects held in memory for each scope; further ones are written as they come. */
const mostChanges = 2_000;
/** Objects that are evicted at a time. */
const evictionSize = 500;

/**
 * Finds what changed in a scope since its position.
 *
 * @param awaitsBookmark see `CatchUpRequest`.
 */
export async function catchUpScope<Facts>(
  scope: StatedScope,
  { source, epoch, write }: ScopeTools<Facts>,
  awaitsBookmark: boolean,
): Promise<CaughtUpScope<Facts>> {
  // Only the last change of each object: a storm of changes takes no more room than the objects.
  const told = new Map<string, ObjectChange<Facts>>();
  let added = 0;
  const take = (position = ''): ObjectChange<Facts>[] => {
    if (told.size === 0) return [];
    const readTo = toRevision(epoch, position || '0');
    const changes = [...told.values()].map((change) =>
      change.seenAt < readTo ? { ...change, seenAt: readTo } : change,
    );
    told.clear();
    return changes;
  };
  const outcome = await source.catchUp({
    ...toScope(scope),
    position: scope.state.position,
    awaitsBookmark,
    async onChanges(found) {
      for (const change of found.changes) told.set(getObjectName(change), change);
      added += found.added;
      if (told.size >= mostChanges) await write(take(found.position));
    },
  });
  return { outcome, changes: take(outcome.position), added };
}

/** What a source needs to know of a scope. */
export function toScope({ kind: { kind }, location }: StatedScope): Scope {
  return { kind, location };
}

/** The result of a list. */
export interface ListedScope {
  readonly outcome: ReadOutcome;
  /** Objects that are kept. */
  readonly items: number;
  /** Objects that were cached and that the list lacks. */
  readonly evicted: number;
}

/** How to list a scope. */
export interface ListScopeOptions<Facts> {
  /** How many of the listed objects count, the first ones. Default: all. */
  readonly most?: number | undefined;
  /** Returns which of a page's kept objects to write. Default: all. */
  readonly sift?: (kept: readonly ObjectChange<Facts>[]) => readonly ObjectChange<Facts>[];
  /** Called before objects missing from the list are evicted. */
  readonly onListed?: (position: string) => Promise<void>;
}

/**
 * Objects of a list that are written together. Rows of views share items, each of which is then written once for thousands of objects
 * instead of once a page. In memory the objects take some megabytes.
 */
const mostGathered = 5_000;
/** The same for large facts; these take some megabytes, too. */
const mostGatheredLarge = 500;

/** Lists a scope: caches the objects to keep, thousands at a time, and evicts those missing from the list. */
export async function listScope<Facts>(
  scope: StatedScope,
  tools: ScopeTools<Facts>,
  options: ListScopeOptions<Facts>,
): Promise<ListedScope> {
  const { source, model, epoch, write } = tools;
  const { most = Number.POSITIVE_INFINITY, sift = (kept) => kept, onListed } = options;
  const listed = new Set<string>();
  let gathered: ObjectChange<Facts>[] = [];
  let left = most;
  const writeGathered = async (): Promise<void> => {
    const changes = gathered;
    gathered = [];
    await write(changes, { isListed: true });
  };
  const onPage = async (page: FoundPage<Facts>): Promise<void> => {
    const kept = page.read(left);
    left -= Math.min(left, page.count);
    for (const change of kept) listed.add(toName(change));
    const sifted = sift(kept);
    // What is kept of them is small. Writing takes time, and the large responses of other lists need not wait for it.
    page.release();
    for (const change of sifted) gathered.push(change);
    if (gathered.length >= getMostGathered(model, gathered)) await writeGathered();
  };
  const outcome = await source.list(toScope(scope), onPage);
  await writeGathered();
  const { position } = outcome;
  if (outcome.outcome !== 'listed' || position === undefined)
    return { outcome, items: listed.size, evicted: 0 };
  await onListed?.(position);
  const revision = toRevision(epoch, position);
  const evicted = await evict(tools, {
    ...toScope(scope),
    location: scope.location || undefined,
    // Anything newer than the list comes with later changes.
    findEviction: (head) =>
      head.revision <= revision && !listed.has(toName(head.key)) ? revision : undefined,
  });
  return { outcome, items: listed.size, evicted };
}

function getMostGathered<Facts>(model: CacheModel<Facts>, [first]: readonly ObjectChange<Facts>[]): number {
  return first?.facts !== undefined && model.isLarge?.(first.facts) ? mostGatheredLarge : mostGathered;
}

/** Identifies an object among those of its kind. */
export function toName({ location, name }: Pick<ObjectChange, 'location' | 'name'>): string {
  return `${location}/${name}`;
}

/** What to evict. */
export interface Eviction {
  readonly kind: string;
  /** Only of this location; undefined for all. */
  readonly location?: string | undefined;
  /** The revision at which an object counts as gone; undefined for one that stays. */
  findEviction(head: Pick<ObjectHead, 'key' | 'revision'>): Revision | undefined;
}

/** Evicts objects of a kind from the cache. @returns how many were to be evicted */
export async function evict<Facts>(
  { account, cache, signal, write }: Pick<ScopeTools<Facts>, 'account' | 'cache' | 'signal' | 'write'>,
  { kind, location: within, findEviction }: Eviction,
): Promise<number> {
  let gone: ObjectChange<Facts>[] = [];
  let count = 0;
  for await (const page of cache.listHeads(account, kind, { location: within })) {
    signal.throwIfAborted();
    for (const head of page) {
      const revision = findEviction(head);
      if (revision === undefined) continue;
      const { location, name } = head.key;
      gone.push({ kind, location, name, revision, seenAt: revision, facts: undefined });
    }
    if (gone.length < evictionSize) continue;
    count += gone.length;
    await write(gone);
    gone = [];
  }
  if (gone.length > 0) await write(gone);
  return count + gone.length;
}
