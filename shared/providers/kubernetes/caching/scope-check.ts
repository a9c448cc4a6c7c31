import type { ObjectHead } from '#caching/store/cache-store.ts';
import type { Revision } from '#caching/store/revision.ts';
import { includesVersion } from '../api/resource-version.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { findProof } from '../cache-writer/restored-cluster.ts';
import type { CatchUpOutcome } from '../watch/catch-up-kind.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { catchUpScope, listScope, type ScopeTools, toName } from './scope-reader.ts';

/** What a comparison of a scope with the cluster found. */
export interface CheckedScope {
  /** How its list ended: what was found counts only if that was listed whole. */
  readonly outcome: CatchUpOutcome;
  /** What was told since the resource version that the scope had; undefined when nobody asked. */
  readonly caughtUp: CatchUpOutcome | undefined;
  /** Objects that were cached wrongly, or not, although it had been told how they are. They are repaired. */
  readonly drift: number;
  /** Whether an object that is there counts as deleted, so that nothing can cache it in this epoch. */
  readonly isBlocked: boolean;
  /** What proves that the cluster went back in time: see `findProof`; undefined when nothing does. */
  readonly proof: string | undefined;
  /** Objects that are to be cached. */
  readonly items: number;
}

/**
 * Compares what is cached of a scope with a list of it, and repairs what is wrong. Changes that are on their way count as no error:
 * only what had been told up to the scope's resource version should be cached, and before something is taken out that the list lacks, what
 * was told until then is written. Of the scope names and revisions are held in memory.
 */
export async function checkScope(scope: WatchedScope, tools: ScopeTools): Promise<CheckedScope> {
  const { conversion, cache, account } = tools;
  const { kind, namespace, state } = scope;
  const heads = new Map<string, ObjectHead>();
  for await (const page of cache.listHeads(account, kind.kind, {
    namespace: namespace || undefined,
    withGone: true,
  })) {
    for (const head of page) heads.set(toName(head.key), head);
  }
  const found = new Findings(heads, conversion.toRevision(state.resourceVersion ?? '0'));
  let caughtUp: CatchUpOutcome | undefined;
  let isTold = false;
  const listed = await listScope(scope, tools, {
    sift: (kept) => found.sift(kept),
    async onListed(resourceVersion) {
      const catchUp = await catchUpScope(scope, tools, true);
      await tools.write(catchUp.changes);
      caughtUp = catchUp.outcome;
      isTold = includesVersion(catchUp.outcome.resourceVersion ?? '0', resourceVersion);
    },
  });
  const { outcome, items } = listed;
  const drift = found.wrong + (isTold ? listed.evicted : 0);
  return { outcome, caughtUp, drift, isBlocked: found.isBlocked, proof: found.proof, items };
}

/** What is wrong among listed objects. */
class Findings {
  wrong = 0;
  isBlocked = false;
  proof: string | undefined;
  readonly #heads: ReadonlyMap<string, ObjectHead>;
  readonly #told: Revision;

  /** @param told everything up to it should be cached. */
  constructor(heads: ReadonlyMap<string, ObjectHead>, told: Revision) {
    this.#heads = heads;
    this.#told = told;
  }

  /** Those that are to be repaired. */
  sift(kept: readonly ObjectChange[]): readonly ObjectChange[] {
    this.proof ??= this.#findProof(kept);
    const wrong = kept.filter((change) => change.revision <= this.#told && this.#isWrong(change));
    this.wrong += wrong.length;
    return wrong;
  }

  #findProof(kept: readonly ObjectChange[]): string | undefined {
    for (const change of kept) {
      const head = this.#heads.get(toName(change));
      const proof = head === undefined || head.gone ? undefined : findProof(head.revision, change);
      if (proof !== undefined) return proof;
    }
    return undefined;
  }

  #isWrong(change: ObjectChange): boolean {
    const head = this.#heads.get(toName(change));
    if (head === undefined || head.revision < change.revision) return true;
    if (!head.gone || head.revision > change.seenAt) return false;
    this.isBlocked = true;
    return true;
  }
}
