import type { CacheStore } from '#caching/store/cache-store.ts';
import type { CachingPolicy } from '../account/account.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { isSameKind } from '../kinds/name.ts';
import { toName } from './scope-reader.ts';

/** The options of limiting a kind. */
export interface LimitTools {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'listHeads'>;
  readonly policies: readonly CachingPolicy[];
}

/** How many objects of a kind are cached; undefined for no limit. Of two policies for a kind the first counts. */
export function findKindLimit(policies: readonly CachingPolicy[], kind: string): number | undefined {
  return policies.find(({ kubernetesKind }) => isSameKind(kubernetesKind, kind))?.maxEntriesPerAgent;
}

/**
 * Leaves out the new objects that exceed a kind's limit. Cached objects stay, and each that goes makes room for the next object that
 * changes.
 */
export async function limitChanges(
  changes: readonly ObjectChange[],
  tools: LimitTools,
): Promise<readonly ObjectChange[]> {
  const { policies } = tools;
  const limited = new Set(
    changes.map(({ kind }) => kind).filter((kind) => findKindLimit(policies, kind) !== undefined),
  );
  if (limited.size === 0) return changes;
  const kept = changes.filter(({ kind }) => !limited.has(kind));
  for (const kind of limited) {
    const ofKind = changes.filter((change) => change.kind === kind);
    for (const change of await limitKind(kind, ofKind, tools)) kept.push(change);
  }
  return kept;
}

async function limitKind(
  kind: string,
  changes: readonly ObjectChange[],
  { account, cache, policies }: LimitTools,
): Promise<ObjectChange[]> {
  const cached = new Set<string>();
  for await (const page of cache.listHeads(account, kind)) {
    for (const { key } of page) cached.add(toName(key));
  }
  const gone = changes.filter(({ facts }) => facts === undefined);
  for (const change of gone) cached.delete(toName(change));
  const most = findKindLimit(policies, kind) ?? Number.POSITIVE_INFINITY;
  const kept = changes.filter((change) => {
    const key = toName(change);
    if (change.facts === undefined || (cached.size >= most && !cached.has(key))) return false;
    cached.add(key);
    return true;
  });
  return [...gone, ...kept];
}
