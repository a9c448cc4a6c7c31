import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../shared/core/json.ts';
import type { LogFields } from '../../../../shared/core/logger.ts';
import {
  addCachedNamespaces,
  type NamespacesMemory,
} from '../../../../shared/core/providers/cached-namespaces.ts';
import type { Account } from '../../../../shared/core/settings/account.ts';
import { createTestClock } from '../../../support/test-clock.ts';

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

function setUp(listNamespaces: (account: string) => Promise<readonly string[]>) {
  const warnings: LogFields[] = [];
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (_: string, fields = {}) => void warnings.push(fields),
  };
  const clock = createTestClock();
  const memory: NamespacesMemory = new Map();
  return { warnings, clock, context: { views: { listNamespaces }, clock, log, memory } };
}

describe('namespaces of accounts', () => {
  it('are those that are cached where the configuration names none', async () => {
    const { context, warnings } = setUp(async (name) => [`${name}-1`, `${name}-2`]);

    expect(await addCachedNamespaces([configured, open, registry], context)).toEqual([
      configured,
      { ...open, details: { namespaces: ['open-1', 'open-2'], cacheThreads: 1 } },
      registry,
    ]);
    expect(open.details.namespaces).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('are read of many accounts at a time, but not of all', async () => {
    let running = 0;
    let most = 0;
    const { context } = setUp(async (name) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return [name];
    });
    const accounts = Array.from({ length: 400 }, (_, index) => account(`a${index}`, { namespaces: [] }));

    const shown = await addCachedNamespaces(accounts, context);

    expect(shown.map(({ name, details }) => details.namespaces?.toString() === name)).not.toContain(false);
    expect(most).toBe(64);
  });

  it('stay empty where they cannot be read, and the log says so once', async () => {
    const { context, warnings } = setUp(async (name) => {
      if (name === 'open') throw new Error('throttled');
      return ['web'];
    });
    const other = account('other', { namespaces: [] });

    const shown = await addCachedNamespaces([open, other], context);

    expect(shown.map(({ details }) => details.namespaces)).toEqual([[], ['web']]);
    expect(warnings).toEqual([{ error: new Error('throttled') }]);
  });

  it('are not read again within a minute, unless there were none', async () => {
    const asked: string[] = [];
    const { context, clock } = setUp(async (name) => {
      asked.push(name);
      return name === 'open' ? ['web'] : [];
    });
    const accounts = [open, account('empty', { namespaces: [] })];
    const list = async () =>
      (await addCachedNamespaces(accounts, context)).map(({ details }) => details.namespaces);

    await list();
    clock.advance(59_000);
    expect(await list()).toEqual([['web'], []]);
    expect(asked).toEqual(['open', 'empty', 'empty']);
    clock.advance(2_000);
    await list();
    expect(asked).toEqual(['open', 'empty', 'empty', 'open', 'empty']);
  });

  it('are those of before where they cannot be read again', async () => {
    let isAway = false;
    const { context, clock } = setUp(async () => {
      if (isAway) throw new Error('throttled');
      return ['web'];
    });
    await addCachedNamespaces([open], context);
    isAway = true;
    clock.advance(61_000);

    const [shown] = await addCachedNamespaces([open], context);

    expect(shown?.details.namespaces).toEqual(['web']);
  });

  it('are not waited for long', async () => {
    const { context, warnings, clock } = setUp((name) =>
      name === 'open' ? new Promise(() => {}) : Promise.resolve(['web']),
    );
    const shown = addCachedNamespaces([open, account('other', { namespaces: [] })], context);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3_001);

    expect((await shown).map(({ details }) => details.namespaces)).toEqual([[], ['web']]);
    expect(warnings).toHaveLength(1);
  });
});
