import { getOrAdd } from '#core/get-or-add.ts';
import { createScopeState, type KindState, type ScopeState } from './caching-agent-state.ts';
import type { ScopedKind, ScopeSource } from './scope-source.ts';

/** Objects of a kind in one location, or in all, with what is known of them. */
export interface StatedScope {
  readonly kind: ScopedKind;
  readonly kindState: KindState;
  /** Empty for all locations, and for a kind that is in none. */
  readonly location: string;
  readonly state: ScopeState;
}

/** Decides how a kind is read. */
export interface ScopePlan {
  readonly source: ReadingSource;
  /** The locations that the account may use; undefined when they are not known. */
  readonly locations: readonly string[] | undefined;
  readonly nowMs: number;
}

/** Decides whether locations are read one by one. */
export type ReadingSource = Pick<ScopeSource<never>, 'readsByLocation'>;

/** Delay before something forbidden is tried again, milliseconds. */
export const forbiddenRetryMs = { location: 5 * 60_000, all: 10 * 60_000, watch: 10 * 60_000 } as const;

/** Whether objects of a kind are read location by location, and not all of them at once. */
export function isNarrow(
  { isDivided }: Pick<ScopedKind, 'isDivided'>,
  { wideAtMs }: Pick<KindState, 'wideAtMs'>,
  { readsByLocation }: ReadingSource,
): boolean {
  return isDivided && (wideAtMs !== undefined || readsByLocation);
}

/**
 * What to read of a kind now: all locations at once if allowed, else one by one, with a retry of all at once now and then. What was
 * forbidden, or not served, a short while ago is left out.
 */
export function planScopes(kind: ScopedKind, kindState: KindState, plan: ScopePlan): StatedScope[] {
  const { nowMs, source } = plan;
  const scopes = listLocations(kind, kindState, plan).map((location) => ({
    kind,
    kindState,
    location,
    state: getScope(kindState, location, nowMs),
  }));
  const isWideAgain = (kindState.wideAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
  return scopes.filter(({ location, state }) => {
    if (location === '' && isNarrow(kind, kindState, source)) return isWideAgain;
    const { forbiddenAtMs = Number.NEGATIVE_INFINITY, goneAtMs = forbiddenAtMs } = state;
    return Math.max(forbiddenAtMs, goneAtMs) + forbiddenRetryMs.location <= nowMs;
  });
}

/** Whether a scope must be listed: nothing is known of it, or it can only be listed and that was a while ago. */
export function mustList({ state }: StatedScope, nowMs: number): boolean {
  if (state.position === undefined) return true;
  if (!isUnwatchable(state, nowMs)) return false;
  return isOnePage(state) || (state.asOfMs ?? 0) + relistMs <= nowMs;
}

/** Whether a scope cannot be watched, as far as that was tried lately. */
export function isUnwatchable({ unwatchableAtMs }: ScopeState, nowMs: number): boolean {
  return unwatchableAtMs !== undefined && unwatchableAtMs + forbiddenRetryMs.watch > nowMs;
}

/** Whether a scope was listed before, and is so small that another list costs no more than a watch. */
export function isOnePage({ asOfMs, items }: ScopeState): boolean {
  return asOfMs !== undefined && items <= 500;
}

/** What can only be listed is listed again after this time unless it is small, milliseconds. */
const relistMs = 5 * 60_000;

function listLocations(kind: ScopedKind, kindState: KindState, plan: ScopePlan): readonly string[] {
  const { source, locations } = plan;
  if (!isNarrow(kind, kindState, source)) return [''];
  const known = locations ?? [...kindState.scopes.keys()].filter((location) => location !== '');
  return source.readsByLocation ? known : ['', ...known];
}

function getScope({ scopes }: KindState, location: string, nowMs: number): ScopeState {
  return getOrAdd(scopes, location, () => createScopeState(nowMs));
}
