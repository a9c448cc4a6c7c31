import type { Clock, Randomness } from '#core/clock.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import { type KindProver, type WatchProgress, watchKind } from '../watch/watch-kind.ts';
import type { ScopeState } from './caching-agent-state.ts';
import type { WatchedScope } from './kind-scopes.ts';
import { isComparable, type ObjectConversion } from './object-conversion.ts';
import { countAdded } from './scope-reader.ts';

/** Options of watching scopes. */
export interface WatchScopesOptions {
  readonly watches: WatchClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly conversion: ObjectConversion;
  readonly signal: AbortSignal;
  /** Writes changes into the cache. */
  readonly write: (changes: readonly ObjectChange[]) => Promise<void>;
  /** Whether so much waits to be written that reading must pause. Default: never. */
  readonly isFull?: () => boolean;
  /** Called with a scope's progress, once everything up to there is written. */
  onRead(scope: WatchedScope, read: Partial<ScopeState>): void;
  /** Called when a scope's watch begins, with what proves on demand how current the scope is; that writes what it finds. */
  onProvable(prove: KindProver): void;
  /** Called when a scope cannot be watched at the moment; the watch is retried. */
  onTrouble(scope: WatchedScope, error: Error, failures: number): void;
}

/**
 * Watches scopes from their resource versions on, each with its own watches. Ends when it is aborted, and as soon as one watch cannot
 * continue: its resource version is too old, it may not be read any more, or the cluster is another one.
 *
 * @throws what `write` throws
 */
export async function watchScopes(
  scopes: readonly WatchedScope[],
  options: WatchScopesOptions,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const watching = scopes.map((scope) =>
    watchScope(scope, { ...options, signal }).finally(() => ending.abort()),
  );
  const failed = (await Promise.allSettled(watching)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function watchScope(scope: WatchedScope, options: WatchScopesOptions): Promise<void> {
  const { watches: client, clock, randomness } = options;
  const { kind, namespace, state } = scope;
  if (state.resourceVersion === undefined) return;
  const told = new ToldProgress(scope, options);
  await watchKind(
    {
      resource: kind.resource,
      metadataOnly: kind.isMetadataOnly,
      namespace: namespace || undefined,
      resourceVersion: state.resourceVersion,
      signal: AbortSignal.any([options.signal, told.failed]),
      onProgress: (progress) => told.take(progress),
      onProvable: (prove) =>
        options.onProvable(async () => {
          await prove();
          await told.written;
        }),
      onTrouble: (error, failures) => options.onTrouble(scope, error, failures),
    },
    { client, clock, randomness },
  );
  await told.written;
}

/**
 * The changes that a scope's watch has reported, and which of them are written. Changes reported during a write are written together, so
 * that a watcher that is behind catches up in leaps, not change by change.
 */
class ToldProgress {
  readonly #scope: WatchedScope;
  readonly #options: WatchScopesOptions;
  readonly #failing = new AbortController();
  /** Aborted when something could not be written. */
  readonly failed = this.#failing.signal;
  /** Resolves when all reported changes are written; rejects with what `write` throws. */
  written: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(scope: WatchedScope, options: WatchScopesOptions) {
    this.#scope = scope;
    this.#options = options;
  }

  /** Receives progress; resolves at once unless too much is waiting to be written. */
  async take({ changes, resourceVersion, asOfMs }: WatchProgress): Promise<void> {
    const { conversion, write, onRead, isFull } = this.#options;
    // A server with such versions is only listed: it cannot be watched, either.
    if (!isComparable(resourceVersion)) return;
    const converted = conversion.toChanges(changes, resourceVersion);
    const added = countAdded(changes);
    const writing = converted.length > 0 ? write(converted) : undefined;
    this.#waiting += converted.length;
    this.written = Promise.all([this.written, writing]).then(() => {
      this.#waiting -= converted.length;
      const { state } = this.#scope;
      onRead(this.#scope, {
        resourceVersion,
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
