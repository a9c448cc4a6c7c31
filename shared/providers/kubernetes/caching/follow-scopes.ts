import type { Clock, Randomness } from '../../../core/clock.ts';
import { type FollowProgress, followKind } from '../client/follow-kind.ts';
import type { WatchClient } from '../client/watch-client.ts';
import type { ScopeState } from './agent-state.ts';
import type { WatchedScope } from './kind-scopes.ts';
import type { ObjectChange } from './object-change.ts';
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
  const { watches: client, clock, randomness, signal } = options;
  const { kind, namespace, state } = scope;
  if (state.position === undefined) return;
  await followKind(
    {
      resource: kind.resource,
      namespace: namespace || undefined,
      position: state.position,
      signal,
      onProgress: (progress) => takeProgress(scope, options, progress),
      onTrouble: (error, failures) => options.onTrouble(scope, error, failures),
    },
    { client, clock, randomness },
  );
}

async function takeProgress(
  scope: WatchedScope,
  { conversion, write, onRead }: FollowScopesOptions,
  { changes, position, asOfMs = scope.state.asOfMs }: FollowProgress,
): Promise<void> {
  // A server that gives such versions is only listed: it cannot be watched, either.
  if (!isComparable(position)) return;
  const converted = conversion.toChanges(changes, position);
  if (converted.length > 0) await write(converted);
  const added = changes.reduce((sum, { type }) => sum + itemsByType[type], 0);
  onRead(scope, { position, asOfMs, items: Math.max(0, scope.state.items + added) });
}

/** By how much a change of an object changes their number. */
const itemsByType = { ADDED: 1, MODIFIED: 0, DELETED: -1 } as const;
