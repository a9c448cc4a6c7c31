import type { ObjectHead } from '../store/cache-store.ts';
import { type Revision, toRevision } from '../store/revision.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import type { ObjectChange } from '../writer/object-change.ts';
import { findProof } from '../writer/restored-platform.ts';
import type { StatedScope } from './kind-scopes.ts';
import { catchUpScope, listScope, type ScopeTools, toName } from './scope-reader.ts';
import type { ReadOutcome } from './scope-source.ts';

/** The result of comparing a scope with the platform. */
export interface CheckedScope {
  /** How its list ended: findings count only if the list was complete. */
  readonly outcome: ReadOutcome;
  /** How the catch-up from the scope's position ended; undefined if there was none. */
  readonly caughtUp: ReadOutcome | undefined;
  /** Objects that were cached wrongly, or missing, although their changes had been received. They are repaired. */
  readonly drift: number;
  /** Whether an existing object counts as deleted, so that it cannot be cached in this epoch. */
  readonly isBlocked: boolean;
  /** Proof that the platform went back in time: see `findProof`; undefined if there is none. */
  readonly proof: string | undefined;
  /** Objects to be cached. */
  readonly items: number;
}

/**
 * Compares the cache of a scope with a list of it, and repairs what is wrong. Changes in transit are no errors: only changes up to the
 * scope's position should be cached, and changes received so far are written before objects missing from the list are evicted. The
 * scope's names and revisions are held in memory.
 */
export async function checkScope<Facts>(scope: StatedScope, tools: ScopeTools<Facts>): Promise<CheckedScope> {
  const { epoch, model, cache, account } = tools;
  const { kind, location, state } = scope;
  const heads = new Map<string, ObjectHead>();
  for await (const page of cache.listHeads(account, kind.kind, {
    location: location || undefined,
    withGone: true,
  })) {
    for (const head of page) heads.set(toName(head.key), head);
  }
  const found = new Findings(heads, { told: toRevision(epoch, state.position ?? '0'), model });
  let caughtUp: ReadOutcome | undefined;
  let isTold = false;
  const listed = await listScope(scope, tools, {
    sift: (kept) => found.sift(kept),
    async onListed(position) {
      const catchUp = await catchUpScope(scope, tools, true);
      await tools.write(catchUp.changes);
      caughtUp = catchUp.outcome;
      isTold = toRevision(epoch, catchUp.outcome.position ?? '0') >= toRevision(epoch, position);
    },
  });
  const { outcome, items } = listed;
  const drift = found.wrong + (isTold ? listed.evicted : 0);
  return { outcome, caughtUp, drift, isBlocked: found.isBlocked, proof: found.proof, items };
}

/** The errors found among listed objects. */
class Findings<Facts> {
  wrong = 0;
  isBlocked = false;
  proof: string | undefined;
  readonly #heads: ReadonlyMap<string, ObjectHead>;
  readonly #told: Revision;
  readonly #model: CacheModel<Facts>;

  /** @param rule.told the revision up to which everything should be cached. */
  constructor(
    heads: ReadonlyMap<string, ObjectHead>,
    { told, model }: { readonly told: Revision; readonly model: CacheModel<Facts> },
  ) {
    this.#heads = heads;
    this.#told = told;
    this.#model = model;
  }

  /** Those to be repaired. */
  sift(kept: readonly ObjectChange<Facts>[]): readonly ObjectChange<Facts>[] {
    this.proof ??= findProof(kept, (change) => this.#findLiveRevision(change), this.#model);
    const wrong = kept.filter((change) => change.revision <= this.#told && this.#isWrong(change));
    this.wrong += wrong.length;
    return wrong;
  }

  #findLiveRevision(change: ObjectChange): Revision | undefined {
    const head = this.#heads.get(toName(change));
    return head?.gone ? undefined : head?.revision;
  }

  #isWrong(change: ObjectChange<Facts>): boolean {
    const head = this.#heads.get(toName(change));
    if (head === undefined || head.revision < change.revision) return true;
    if (!head.gone || head.revision > change.seenAt) return false;
    this.isBlocked = true;
    return true;
  }
}
