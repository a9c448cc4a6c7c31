import { describe, expect, test } from 'vitest';
import {
  createKindState,
  createScopeState,
  type KindState,
  type ScopeState,
} from '#caching/engine/caching-agent-state.ts';
import { isOnePage, mustList, planScopes, type StatedScope } from '#caching/engine/kind-scopes.ts';
import type { ScopedKind } from '#caching/engine/scope-source.ts';
import { summarizeState } from '#caching/engine/state-summary.ts';

const nowMs = 1_000_000_000;
const minuteMs = 60_000;
const service: ScopedKind = { kind: 'service', id: 'service v1', isDivided: true };
const role: ScopedKind = { kind: 'clusterRole', id: 'clusterRole v1', isDivided: false };

function stateOf(
  scopes: Readonly<Record<string, Partial<ScopeState>>>,
  more: Partial<KindState> = {},
): KindState {
  const known = Object.entries(scopes).map(([location, scope]) => {
    const usual = { ...createScopeState(nowMs), position: '5', asOfMs: nowMs };
    return [location, { ...usual, ...scope }] as const;
  });
  return { ...createKindState(), ...more, scopes: new Map(known) };
}

describe('the scopes of a kind', () => {
  const plan = (state: KindState, locations: readonly string[] | undefined, readsByLocation = false) =>
    planScopes(service, state, { source: { readsByLocation }, locations, nowMs }).map(
      ({ location }) => location,
    );
  const narrow = { wideAtMs: nowMs + minuteMs };

  test('are all locations at once, or one by one where the source says so', () => {
    expect(plan(createKindState(), undefined)).toEqual(['']);
    expect(plan(createKindState(), ['a', 'b', 'c'], true)).toEqual(['a', 'b', 'c']);
    expect(plan(createKindState(), ['a', 'b', 'c', 'd'])).toEqual(['']);
  });

  test('are locations one by one where all at once is forbidden, and now and then all at once', () => {
    const forbidden = { '': { forbiddenAtMs: nowMs - minuteMs } };
    expect(plan(stateOf(forbidden, narrow), ['a', 'b'])).toEqual(['a', 'b']);
    expect(plan(stateOf(forbidden, { wideAtMs: nowMs }), ['a', 'b'])).toEqual(['', 'a', 'b']);
    // The existing locations are unknown: those that are known go on.
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

  test('of a kind without locations are one, however the source reads', () => {
    const scopes = planScopes(role, createKindState(), {
      source: { readsByLocation: true },
      locations: ['a'],
      nowMs,
    });
    expect(scopes.map(({ location }) => location)).toEqual(['']);
  });

  test.each([
    { what: 'nothing is known', state: { position: undefined }, is: true },
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
      source: { readsByLocation: false },
      locations: undefined,
      nowMs,
    });
    expect(mustList(scope as StatedScope, nowMs)).toBe(is);
  });

  test('are one page only if they were listed', () => {
    expect(isOnePage(createScopeState(nowMs))).toBe(false);
    expect(isOnePage({ ...createScopeState(nowMs), asOfMs: nowMs, items: 500 })).toBe(true);
    expect(isOnePage({ ...createScopeState(nowMs), asOfMs: nowMs, items: 501 })).toBe(false);
  });
});

describe('the summary of a state', () => {
  const summarize = (kinds: Readonly<Record<string, KindState>>) =>
    summarizeState({ kinds: new Map(Object.entries(kinds)) }, [service, role], { readsByLocation: false });

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
