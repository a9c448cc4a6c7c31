import { describe, expect, test } from 'vitest';
import {
  createKindState,
  createScopeState,
  type KindState,
  type ScopeState,
} from '#providers/kubernetes/caching/caching-agent-state.ts';
import {
  isOnePage,
  mustList,
  planScopes,
  type WatchedScope,
} from '#providers/kubernetes/caching/kind-scopes.ts';
import { summarizeState } from '#providers/kubernetes/caching/state-summary.ts';
import type { WatchedKind } from '#providers/kubernetes/caching/watched-kinds.ts';

const nowMs = 1_000_000_000;
const minuteMs = 60_000;
const service = watched('Service', 'service', true);
const role = watched('ClusterRole', 'clusterRole', false);

function watched(kind: string, name: string, namespaced: boolean): WatchedKind {
  const resource = { apiVersion: 'v1', kind, plural: `${name}s`, namespaced, builtIn: true };
  return { kind: name, resource, isWanted: true };
}

function stateOf(
  scopes: Readonly<Record<string, Partial<ScopeState>>>,
  more: Partial<KindState> = {},
): KindState {
  const known = Object.entries(scopes).map(([namespace, scope]) => {
    const usual = { ...createScopeState(nowMs), resourceVersion: '5', asOfMs: nowMs };
    return [namespace, { ...usual, ...scope }] as const;
  });
  return { ...createKindState(), ...more, scopes: new Map(known) };
}

describe('the scopes of a kind', () => {
  const plan = (state: KindState, namespaces: readonly string[] | undefined, of: readonly string[] = []) =>
    planScopes(service, state, { account: { namespaces: of }, namespaces, nowMs }).map(
      ({ namespace }) => namespace,
    );
  const narrow = { wideAtMs: nowMs + minuteMs };

  test('are all namespaces at once, or those of an account that names up to three', () => {
    expect(plan(createKindState(), undefined)).toEqual(['']);
    expect(plan(createKindState(), ['a'], ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(plan(createKindState(), ['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd'])).toEqual(['']);
  });

  test('are namespaces one by one where all at once is forbidden, and now and then all at once', () => {
    const forbidden = { '': { forbiddenAtMs: nowMs - minuteMs } };
    expect(plan(stateOf(forbidden, narrow), ['a', 'b'])).toEqual(['a', 'b']);
    expect(plan(stateOf(forbidden, { wideAtMs: nowMs }), ['a', 'b'])).toEqual(['', 'a', 'b']);
    // The namespaces that there are cannot be told: those that are known go on.
    expect(plan(stateOf({ ...forbidden, c: {} }, narrow), undefined)).toEqual(['c']);
  });

  test('are left alone for some minutes when they were forbidden or not served', () => {
    for (const refused of ['forbiddenAtMs', 'goneAtMs'] as const) {
      expect(plan(stateOf({ a: { [refused]: nowMs - 4 * minuteMs }, b: {} }, narrow), ['a', 'b'])).toEqual([
        'b',
      ]);
      expect(plan(stateOf({ a: { [refused]: nowMs - 6 * minuteMs }, b: {} }, narrow), ['a', 'b'])).toEqual([
        'a',
        'b',
      ]);
    }
  });

  test('of a kind without namespaces are one, whatever the account names', () => {
    const scopes = planScopes(role, createKindState(), {
      account: { namespaces: ['a'] },
      namespaces: ['a'],
      nowMs,
    });
    expect(scopes.map(({ namespace }) => namespace)).toEqual(['']);
  });

  test.each([
    { what: 'nothing is known', state: { resourceVersion: undefined }, is: true },
    { what: 'it is known', state: {}, is: false },
    { what: 'it is small and cannot be watched', state: { unwatchableAtMs: nowMs - minuteMs }, is: true },
    { what: 'it is large and was listed lately', state: { unwatchableAtMs: nowMs, items: 501 }, is: false },
    {
      what: 'it is large and was listed long ago',
      state: { unwatchableAtMs: nowMs, items: 501, asOfMs: nowMs - 5 * minuteMs },
      is: true,
    },
    { what: 'a watch is to be tried again', state: { unwatchableAtMs: nowMs - 10 * minuteMs }, is: false },
  ])('are listed or not where $what', ({ state, is }) => {
    const [scope] = planScopes(service, stateOf({ '': state }), {
      account: { namespaces: [] },
      namespaces: undefined,
      nowMs,
    });
    expect(mustList(scope as WatchedScope, nowMs)).toBe(is);
  });

  test('are one page only if they were listed', () => {
    expect(isOnePage(createScopeState(nowMs))).toBe(false);
    expect(isOnePage({ ...createScopeState(nowMs), asOfMs: nowMs, items: 500 })).toBe(true);
    expect(isOnePage({ ...createScopeState(nowMs), asOfMs: nowMs, items: 501 })).toBe(false);
  });
});

describe('the summary of a state', () => {
  const summarize = (kinds: Readonly<Record<string, KindState>>) =>
    summarizeState({ kinds: new Map(Object.entries(kinds)) }, [service, role], { namespaces: [] });

  test('is as of the oldest that may be read', () => {
    const clusterRole = stateOf({ '': { asOfMs: 70, items: 2 } });
    expect(summarize({ service: stateOf({ '': { asOfMs: 50, items: 3 } }), clusterRole })).toMatchObject({
      asOfMs: 50,
      items: 5,
      forbidden: [],
    });
    expect(summarize({ service: stateOf({ '': { asOfMs: undefined } }), clusterRole })).toMatchObject({
      asOfMs: undefined,
      scopes: 2,
      unlisted: 1,
    });
    expect(
      summarize({ service: stateOf({ '': { asOfMs: 50, items: 3, forbiddenAtMs: nowMs } }), clusterRole }),
    ).toEqual({
      ...{ asOfMs: 70, items: 5, scopes: 1, unlisted: 0 },
      ...{ forbidden: ['service'], isAllForbidden: false },
    });
  });

  test('counts what is read one by one, and not what was read at once before', () => {
    const scopes = { '': { items: 9 }, a: { items: 1, asOfMs: 30 }, b: { items: 2, forbiddenAtMs: nowMs } };
    expect(summarize({ service: stateOf(scopes, { wideAtMs: nowMs }) })).toEqual({
      asOfMs: 30,
      items: 3,
      scopes: 1,
      unlisted: 0,
      forbidden: ['service in b'],
      isAllForbidden: false,
    });
  });

  test('says when nothing may be read', () => {
    const forbidden = { '': { forbiddenAtMs: nowMs } };
    expect(
      summarize({ service: stateOf(forbidden, { wideAtMs: nowMs }), clusterRole: stateOf(forbidden) }),
    ).toMatchObject({ asOfMs: undefined, forbidden: ['service', 'clusterRole'], isAllForbidden: true });
  });
});
