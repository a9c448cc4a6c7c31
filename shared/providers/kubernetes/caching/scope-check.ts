import type { ObjectHead } from '#caching/store/cache-store.ts';
import type { Revision } from '#caching/store/revision.ts';
import { findProof } from '#caching/writer/restored-platform.ts';
import { includesVersion } from '../api/resource-version.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import type { CatchUpOutcome } from '../watch/catch-up-kind.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { catchUpScope, listScope, type ScopeTools, toName } from './scope-reader.ts';

/** The result of comparing a scope with the cluster. */
export interface CheckedScope {
  /** How its list ended: findings count only if the list was complete. */
  readonly outcome: CatchUpOutcome;
  /** How the catch-up from the scope's resource version ended; undefined if there was none. */
  readonly caughtUp: CatchUpOutcome | undefined;
  /** Objects that were cached wrongly, or missing, although their changes had been received. They are repaired. */
  readonly drift: number;
  /** Whether an existing object counts as deleted, so that it cannot be cached in this epoch. */
  readonly isBlocked: boolean;
  /** Proof that the cluster went back in time: see `findProof`; undefined if there is none. */
  readonly proof: string | undefined;
  /** Objects to be cached. */
  readonly items: number;
}

/**
 * Compares the cache of a scope with a list of it, and repairs what is wrong. Changes in transit are no errors: only changes up to the
 * scope's resource version should be cached, and changes received so far are written before objects missing from the list are evicted. The
 * scope's names and revisions are held in memory.
 */
export async function checkScope(scope: WatchedScope, tools: ScopeTools): Promise<CheckedScope> {
  const { conversion, cache, account } = tools;
  const { kind, namespace, state } = scope;
  const heads = new Map<string, ObjectHead>();
  for await (const page of cache.listHeads(account, kind.kind, {
    location: namespace || undefined,
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

/** The errors found among listed objects. */
class Findings {
  wrong = 0;
  isBlocked = false;
  proof: string | undefined;
  readonly #heads: ReadonlyMap<string, ObjectHead>;
  readonly #told: Revision;

  /** @param told the revision up to which everything should be cached. */
  constructor(heads: ReadonlyMap<string, ObjectHead>, told: Revision) {
    this.#heads = heads;
    this.#told = told;
  }

  /** Those to be repaired. */
  sift(kept: readonly ObjectChange[]): readonly ObjectChange[] {
    this.proof ??= this.#findProof(kept);
    const wrong = kept.filter((change) => change.revision <= this.#told && this.#isWrong(change));
    this.wrong += wrong.length;
    return wrong;
  }

  #findProof(kept: readonly ObjectChange[]): string | undefined {
    for (const change of kept) {
      const head = this.#heads.get(toName(change));
      const proof =
        head === undefined || head.gone
          ? undefined
          : findProof({ cached: head.revision, listed: change }, { positionName: 'resource version' });
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
