import type { Clock, Randomness } from '../../../core/clock.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { type FollowProgress, followKind } from '../watch/follow-kind.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import type { ScopeState } from './agent-state.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { isComparable, type ObjectConversion } from './object-conversion.ts';

/** What following scopes needs. */
export interface FollowScopesOptions {
  readonly watches: WatchClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly conversion: ObjectConversion;
  readonly signal: AbortSignal;
  /** Writes changes into the cache. */
  readonly write: (changes: readonly ObjectChange[]) => Promise<void>;
  /** Takes how a scope has moved on, once everything up to there is written. */
  onRead(scope: WatchedScope, read: Partial<ScopeState>): void;
  /** Called when a scope cannot be watched at the moment; it is tried again and again. */
  onTrouble(scope: WatchedScope, error: Error, failures: number): void;
}

/**
 * Follows scopes from their positions on, each by watches of its own. It ends when it is aborted, and as soon as one of them
 * cannot be followed on: its position is too old, it may not be read any more, the cluster is another one.
 *
 * @throws what `write` throws
 */
export async function followScopes(
  scopes: readonly WatchedScope[],
  options: FollowScopesOptions,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const following = scopes.map((scope) =>
    followScope(scope, { ...options, signal }).finally(() => ending.abort()),
  );
  const failed = (await Promise.allSettled(following)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function followScope(scope: WatchedScope, options: FollowScopesOptions): Promise<void> {
  const { watches: client, clock, randomness } = options;
  const { kind, namespace, state } = scope;
  if (state.position === undefined) return;
  const told = new ToldProgress(scope, options);
  await followKind(
    {
      resource: kind.resource,
      namespace: namespace || undefined,
      position: state.position,
      signal: AbortSignal.any([options.signal, told.failed]),
      onProgress: (progress) => told.take(progress),
      onTrouble: (error, failures) => options.onTrouble(scope, error, failures),
    },
    { client, clock, randomness },
  );
  await told.settle();
}

/**
 * What a scope's watch has told and what of it is written. The watch goes on telling meanwhile: what has piled up is written
 * together, so that a follower that is behind catches up by leaps and not change by change.
 */
class ToldProgress {
  readonly #scope: WatchedScope;
  readonly #options: FollowScopesOptions;
  readonly #failing = new AbortController();
  #written: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(scope: WatchedScope, options: FollowScopesOptions) {
    this.#scope = scope;
    this.#options = options;
  }

  /** Aborted when something could not be written. */
  get failed(): AbortSignal {
    return this.#failing.signal;
  }

  /** Takes progress; resolves at once unless too much is waiting to be written. */
  async take({ changes, position, asOfMs }: FollowProgress): Promise<void> {
    const { conversion, write, onRead } = this.#options;
    // A server that gives such versions is only listed: it cannot be watched, either.
    if (!isComparable(position)) return;
    const converted = conversion.toChanges(changes, position);
    const added = changes.reduce((sum, { type }) => sum + itemsByType[type], 0);
    const writing = converted.length > 0 ? write(converted) : undefined;
    this.#waiting += converted.length;
    this.#written = Promise.all([this.#written, writing]).then(() => {
      this.#waiting -= converted.length;
      const { state } = this.#scope;
      onRead(this.#scope, {
        position,
        asOfMs: asOfMs ?? state.asOfMs,
        items: Math.max(0, state.items + added),
      });
    });
    this.#written.catch((error: unknown) => this.#failing.abort(error));
    if (this.#waiting >= mostWaiting) await this.#written;
  }

  /** Resolves when all is written. @throws what `write` throws */
  async settle(): Promise<void> {
    await this.#written;
  }
}

/** Changes of a scope that wait to be written before its watch has to wait for them. */
const mostWaiting = 2_000;

/** By how much a change of an object changes their number. */
const itemsByType = { ADDED: 1, MODIFIED: 0, DELETED: -1 } as const;
