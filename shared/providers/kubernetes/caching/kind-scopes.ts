import { getOrAdd } from '#core/get-or-add.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { createScopeState, type KindState, type ScopeState } from './caching-agent-state.ts';
import type { WatchedKind } from './watched-kinds.ts';

/** Objects of a kind in one namespace, or in all, with what is known of them. */
export interface WatchedScope {
  readonly kind: WatchedKind;
  readonly kindState: KindState;
  /** Empty for all namespaces, and for a kind that lives in none. */
  readonly namespace: string;
  readonly state: ScopeState;
}

/** Decides how a kind is read. */
export interface ScopePlan {
  readonly account: Pick<KubernetesAccount, 'namespaces'>;
  /** The namespaces that the account may use; undefined when they are not known. */
  readonly namespaces: readonly string[] | undefined;
  readonly nowMs: number;
}

/** An account that names no more namespaces than this has each read by itself: that is less than the whole cluster. */
const mostNamespacesByThemselves = 3;

/** Delay before something forbidden is tried again, milliseconds. */
export const forbiddenRetryMs = { namespace: 5 * 60_000, cluster: 10 * 60_000, watch: 10 * 60_000 } as const;

/** Whether objects of a kind are read namespace by namespace, and not all of them at once. */
export function isNarrow(
  { resource }: Pick<WatchedKind, 'resource'>,
  { wideAtMs }: Pick<KindState, 'wideAtMs'>,
  account: Pick<KubernetesAccount, 'namespaces'>,
): boolean {
  return resource.namespaced && (wideAtMs !== undefined || isNarrowByChoice(account));
}

/** Whether the account names so few namespaces that nothing else is read. */
export function isNarrowByChoice({ namespaces }: Pick<KubernetesAccount, 'namespaces'>): boolean {
  return namespaces.length > 0 && namespaces.length <= mostNamespacesByThemselves;
}

/**
 * What to read of a kind now: all namespaces at once if allowed, else one by one, with a retry of all at once now and then. What was
 * forbidden, or not served, a short while ago is left out.
 */
export function planScopes(kind: WatchedKind, kindState: KindState, plan: ScopePlan): WatchedScope[] {
  const { nowMs, account } = plan;
  const scopes = listNamespaces(kind, kindState, plan).map((namespace) => ({
    kind,
    kindState,
    namespace,
    state: getScope(kindState, namespace, nowMs),
  }));
  const isWideAgain = (kindState.wideAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
  return scopes.filter(({ namespace, state }) => {
    if (namespace === '' && isNarrow(kind, kindState, account)) return isWideAgain;
    const { forbiddenAtMs = Number.NEGATIVE_INFINITY, goneAtMs = forbiddenAtMs } = state;
    return Math.max(forbiddenAtMs, goneAtMs) + forbiddenRetryMs.namespace <= nowMs;
  });
}

/** Whether a scope must be listed: nothing is known of it, or it can only be listed and that was a while ago. */
export function mustList({ state }: WatchedScope, nowMs: number): boolean {
  if (state.resourceVersion === undefined) return true;
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

function listNamespaces(kind: WatchedKind, kindState: KindState, plan: ScopePlan): readonly string[] {
  const { account, namespaces } = plan;
  if (!isNarrow(kind, kindState, account)) return [''];
  if (isNarrowByChoice(account)) return account.namespaces;
  const known = namespaces ?? [...kindState.scopes.keys()].filter((namespace) => namespace !== '');
  return ['', ...known];
}

function getScope({ scopes }: KindState, namespace: string, nowMs: number): ScopeState {
  return getOrAdd(scopes, namespace, () => createScopeState(nowMs));
}
