import type { ObjectChange } from '../writer/object-change.ts';
import type { ScopeState } from './caching-agent-state.ts';
import type { StatedScope } from './kind-scopes.ts';
import { toScope } from './scope-reader.ts';
import type { OpenSource, WatchProgress } from './scope-source.ts';

/** Options of watching scopes. */
export interface WatchScopesOptions<Facts> {
  readonly source: OpenSource<Facts>;
  readonly signal: AbortSignal;
  /** Writes changes into the cache. */
  readonly write: (changes: readonly ObjectChange<Facts>[]) => Promise<void>;
  /** Whether so much waits to be written that reading must pause. Default: never. */
  readonly isFull?: () => boolean;
  /** Called with a scope's progress, once everything up to there is written. */
  onRead(scope: StatedScope, read: Partial<ScopeState>): void;
  /** Called when a scope's watch begins, with what proves on demand how current the scope is; that writes what it finds. */
  onProvable(prove: () => Promise<void>): void;
  /** Called when a scope cannot be watched at the moment; the watch is retried. */
  onTrouble(scope: StatedScope, error: Error, failures: number): void;
}

/**
 * Watches scopes from their positions on, each with its own watches. Ends when it is aborted, and as soon as one watch cannot
 * continue: its position is too old, it may not be read any more, or the platform is another one.
 *
 * @throws what `write` throws
 */
export async function watchScopes<Facts>(
  scopes: readonly StatedScope[],
  options: WatchScopesOptions<Facts>,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const watching = scopes.map((scope) =>
    watchScope(scope, { ...options, signal }).finally(() => ending.abort()),
  );
  const failed = (await Promise.allSettled(watching)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function watchScope<Facts>(scope: StatedScope, options: WatchScopesOptions<Facts>): Promise<void> {
  const { position } = scope.state;
  if (position === undefined) return;
  const told = new ToldProgress(scope, options);
  await options.source.watch({
    ...toScope(scope),
    position,
    signal: AbortSignal.any([options.signal, told.failed]),
    onProgress: (progress) => told.take(progress),
    onProvable: (prove) =>
      options.onProvable(async () => {
        await prove();
        await told.written;
      }),
    onTrouble: (error, failures) => options.onTrouble(scope, error, failures),
  });
  await told.written;
}

/**
 * The changes that a scope's watch has reported, and which of them are written. Changes reported during a write are written together, so
 * that a watcher that is behind catches up in leaps, not change by change.
 */
class ToldProgress<Facts> {
  readonly #scope: StatedScope;
  readonly #options: WatchScopesOptions<Facts>;
  readonly #failing = new AbortController();
  /** Aborted when something could not be written. */
  readonly failed = this.#failing.signal;
  /** Resolves when all reported changes are written; rejects with what `write` throws. */
  written: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(scope: StatedScope, options: WatchScopesOptions<Facts>) {
    this.#scope = scope;
    this.#options = options;
  }

  /** Receives progress; resolves at once unless too much is waiting to be written. */
  async take({ changes, added, position, asOfMs }: WatchProgress<Facts>): Promise<void> {
    const { write, onRead, isFull } = this.#options;
    const writing = changes.length > 0 ? write(changes) : undefined;
    this.#waiting += changes.length;
    this.written = Promise.all([this.written, writing]).then(() => {
      this.#waiting -= changes.length;
      const { state } = this.#scope;
      onRead(this.#scope, {
        position,
        // A proof on demand may be newer than what the watch itself proves later.
        asOfMs: asOfMs === undefined ? state.asOfMs : Math.max(asOfMs, state.asOfMs ?? 0),
        items: Math.max(0, state.items + added),
      });
    });
    this.written.catch((error: unknown) => this.#failing.abort(error));
    if (this.#waiting >= mostWaiting || isFull?.()) await this.written;
  }
}

/** Once this many changes of a scope wait to be written, its watch pauses. */
const mostWaiting = 2_000;
