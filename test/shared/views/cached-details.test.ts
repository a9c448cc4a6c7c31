import { describe, expect, it } from 'vitest';
import type { Account } from '#accounts/model/account.ts';
import type { JsonObject } from '#core/json.ts';
import type { LogFields } from '#core/logger.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import type { DetailsContext, DetailsMemory } from '#views/cached-details.ts';
import { addCachedDetails } from '#views/cached-details.ts';

const account = (name: string, details: JsonObject): Account => ({
  name,
  cloudProvider: 'kubernetes',
  environment: name,
  accountType: name,
  requiredGroupMembership: [],
  details,
});
const configured = account('configured', { namespaces: ['web'] });
const open = account('open', { namespaces: [], cacheThreads: 1 });
const registry = account('registry', { address: 'https://registry.example.com' });

function setUp(listAccountDetails: DetailsContext['views']['listAccountDetails']) {
  const warnings: LogFields[] = [];
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (_: string, fields = {}) => void warnings.push(fields),
  };
  const clock = createTestClock();
  const memory: DetailsMemory = new Map();
  return { warnings, clock, context: { views: { listAccountDetails }, clock, log, memory } };
}

describe('cached details of accounts', () => {
  it('are added to those of the settings', async () => {
    const asked: (readonly string[])[] = [];
    const { context, warnings } = setUp(async (names) => {
      asked.push(names);
      return new Map([['open', { namespaces: ['open-1', 'open-2'] }]]);
    });
    expect(await addCachedDetails([configured, open, registry], context)).toEqual([
      configured,
      { ...open, details: { namespaces: ['open-1', 'open-2'], cacheThreads: 1 } },
      registry,
    ]);
    expect(open.details.namespaces).toEqual([]);
    expect([asked, warnings]).toEqual([[['configured', 'open', 'registry']], []]);
  });

  it('stay empty where they cannot be read, and the log says so', async () => {
    const { context, warnings } = setUp(async () => {
      throw new Error('throttled');
    });
    const shown = await addCachedDetails([open, configured], context);
    expect(shown.map(({ details }) => details.namespaces)).toEqual([[], ['web']]);
    expect(warnings).toEqual([{ error: new Error('throttled') }]);
  });

  it('are those of before where they cannot be read again', async () => {
    let isAway = false;
    const { context } = setUp(async () => {
      if (isAway) throw new Error('throttled');
      return new Map([['open', { namespaces: ['web'] }]]);
    });
    await addCachedDetails([open], context);
    isAway = true;

    const [shown] = await addCachedDetails([open], context);

    expect(shown?.details.namespaces).toEqual(['web']);
  });

  it('are not waited for long', async () => {
    const { context, warnings, clock } = setUp(() => new Promise(() => {}));
    const shown = addCachedDetails([open], context);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3_001);

    expect((await shown).map(({ details }) => details.namespaces)).toEqual([[]]);
    expect(warnings).toHaveLength(1);
  });
});
