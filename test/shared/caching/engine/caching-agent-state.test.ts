import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CachingAgentState,
  formatCachingAgentState,
  type KindState,
  parseCachingAgentState,
  type ScopeState,
} from '#caching/engine/caching-agent-state.ts';
import { TooLargeNames } from '#caching/engine/too-large.ts';

const time = fc.integer({ min: 1, max: 2 ** 45 });
const maybeTime = fc.option(time, { nil: undefined });

const scope: fc.Arbitrary<ScopeState> = fc.record({
  position: fc.option(
    fc.nat().map((number) => String(number)),
    { nil: undefined },
  ),
  asOfMs: maybeTime,
  items: fc.nat(),
  movedAtMs: time,
  forbiddenAtMs: maybeTime,
  unwatchableAtMs: maybeTime,
  goneAtMs: maybeTime,
});

const kind: fc.Arbitrary<KindState> = fc.record({
  scopes: fc.array(fc.tuple(fc.string(), scope)).map((entries) => new Map(entries)),
  wideAtMs: maybeTime,
  isSwept: fc.boolean(),
});

const state: fc.Arbitrary<CachingAgentState> = fc.record({
  epoch: fc.nat(),
  rules: fc.string(),
  identity: fc.string(),
  choice: fc.string(),
  isSwept: fc.boolean(),
  checkAtMs: fc.nat(),
  compareMs: maybeTime,
  compared: fc.option(fc.record({ atMs: time, drift: maybeTime }), { nil: undefined }),
  restored: fc.option(fc.record({ atMs: time, proof: fc.string() }), { nil: undefined }),
  kinds: fc.array(fc.tuple(fc.string(), kind)).map((entries) => new Map(entries)),
  tooLarge: fc.array(fc.string()).map((names) => new TooLargeNames(names)),
  waiting: fc.array(fc.tuple(fc.string(), time)).map((entries) => new Map(entries)),
});

describe('the state of an agent', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(state, (known) => {
        expect(parseCachingAgentState(formatCachingAgentState(known))).toEqual(known);
      }),
    );
  });

  test('is read as releases before the engine wrote it', () => {
    const kinds = {
      pod: { s: { '': ['7', 5, 3, 4] }, e: 1 },
      service: { s: { shop: ['', 0, 0, 4, 6, 0, 0] }, w: 9 },
    };
    const plain = { epoch: 2, rules: 'r', cluster: 'uid', isSwept: true, checkAtMs: 8 };
    const text = JSON.stringify({ form: 1, ...plain, applications: 'a', kinds });
    const read = parseCachingAgentState(text);
    expect(read).toMatchObject({ epoch: 2, identity: 'uid', choice: 'a', isSwept: true, checkAtMs: 8 });
    expect(read?.kinds.get('pod')?.scopes.get('')).toMatchObject({ position: '7', asOfMs: 5, items: 3 });
    expect(read?.kinds.get('service')?.scopes.get('shop')).toMatchObject({
      position: undefined,
      forbiddenAtMs: 6,
    });
    expect(JSON.parse(read === undefined ? '' : formatCachingAgentState(read))).toEqual(JSON.parse(text));
  });

  test.each([
    ['nothing', undefined],
    ['no JSON', '{"form":'],
    ['something else', '[]'],
    ['another form', JSON.stringify({ form: 0, kinds: {} })],
  ])('is unknown where there is %s', (_what, text) => {
    expect(parseCachingAgentState(text)).toBeUndefined();
  });

  test('of ten kinds takes less than a kilobyte', () => {
    const usual = {
      position: '123456789',
      asOfMs: 1_800_000_000_000,
      items: 5_000,
      movedAtMs: 1_800_000_000_000,
    };
    const kinds = Array.from({ length: 10 }, (_, index) => {
      const known: KindState = { scopes: new Map([['', usual]]), wideAtMs: undefined, isSwept: false };
      return [`deployment${index}`, known] as const;
    });
    const known: CachingAgentState = {
      epoch: 29_000_000,
      rules: 'r'.repeat(16),
      identity: 'u'.repeat(36),
      choice: '',
      isSwept: true,
      checkAtMs: 1_800_000_000_000,
      kinds: new Map(kinds),
      tooLarge: new TooLargeNames(),
      waiting: new Map(),
    };
    expect(formatCachingAgentState(known).length).toBeLessThan(1_024);
  });
});
