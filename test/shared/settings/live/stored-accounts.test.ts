import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pickDefinitions } from '#accounts/account-facts.ts';
import { DynamoAccountStore } from '#accounts/aws/account-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import { UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { accountsTable } from '#platform/aws/tables.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { plugins } from '#providers/index.ts';
import { LiveAccounts } from '#settings/live/live-accounts.ts';
import type { LiveProvidersOptions } from '#settings/live/live-providers.ts';
import { LiveProviders } from '#settings/live/live-providers.ts';
import { parseSettings } from '#settings/live/settings.ts';
import { createTestLog, createTestOptions } from '#test/shared/providers/artifacts/options.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();
const second = 1_000;

let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let store: DynamoAccountStore;
let isAway: boolean;
let text: string;
let live: LiveProviders;
let count = 0;

beforeEach(() => {
  clock = createTestClock();
  log = createTestLog();
  isAway = false;
  const { openDocuments, tableName } = openTable(accountsTable);
  const documents = openDocuments();
  documents.middlewareStack.add(
    (next) => async (args) => {
      if (isAway) throw new Error('the store is away');
      return next(args);
    },
    { step: 'initialize', name: 'away' },
  );
  const table = new CacheTable({ documents, tableName, clock, randomness: testRandomness });
  store = new DynamoAccountStore({ table, clock });
  count += 1;
  live = open();
});
afterEach(() => live[Symbol.asyncDispose]());

/** Accounts of a process that reads settings and store. @param quick how often it reads settings where accounts are stored */
function open(quick?: LiveProvidersOptions['quick']): LiveProviders {
  return new LiveProviders({
    source: {
      read: async () => text,
      parse() {
        const texts = [{ file: 'clouddriver.yml', text, isKubeconfig: false }];
        const { settings } = parseSettings(texts, { profiles: ['local'], environment: {} });
        return { settings, rejectedAccounts: [] };
      },
      open({ settings }, storedAccounts) {
        const options = createTestOptions(settings, { clock, log, randomness: testRandomness });
        const openPlugin = (plugin: (typeof plugins)[number]) =>
          plugin.open({ ...options, accounts: { stored: pickDefinitions(storedAccounts, plugin.name) } });
        return new ProviderSet(plugins.map(openPlugin));
      },
    },
    stored: new LiveAccounts({ open: async () => store, clock, types: ['kubernetes'] }),
    placement: 'deployed',
    clock,
    randomness: testRandomness,
    log,
    intervalMs: 120 * second,
    quick,
  });
}

function toYaml(isEnabled: boolean, ...accounts: readonly JsonObject[]): string {
  return JSON.stringify({ account: { storage: { enabled: isEnabled } }, kubernetes: { accounts } });
}

/** A name of this test alone: all tests of the file share the table. */
const name = (word: string): string => `${word}-${count}`;

async function save(word: string, fields: JsonObject = {}, expected?: number): Promise<void> {
  const body = { type: 'kubernetes', name: name(word), kubeconfigContents: '{}', ...fields };
  const definition = { name: name(word), type: 'kubernetes', body, origin: 'credentials' } as const;
  const saved = await store.save(definition, { expected, modifiedBy: undefined });
  expect(saved).toBeDefined();
}

/** Names of the accounts that a request sees, of those of this test. */
async function list(): Promise<readonly string[]> {
  const { providers } = await live.get();
  const own = providers.accounts.filter((account) => account.name.endsWith(`-${count}`));
  return own.map((account) => account.name.replace(`-${count}`, ''));
}

describe('accounts of the store', () => {
  test('stand beside those of the settings, and come and go within two seconds', async () => {
    text = toYaml(true, { name: name('yaml'), kubeconfigContents: '{}' });
    expect(await list()).toEqual(['yaml']);

    await save('stored');
    clock.advance(2 * second);
    expect(await list()).toEqual(['stored', 'yaml']);

    await store.remove(name('stored'), { expected: 1, modifiedBy: undefined });
    clock.advance(2 * second);
    expect(await list()).toEqual(['yaml']);
  });

  test('that come with what is read are known within two seconds, after the first reading as well', async () => {
    text = toYaml(true);
    await using facts = open({ intervalMs: second, staleAgeMs: 2 * second });
    const listFacts = async () => (await facts.get()).providers.accounts.map((account) => account.name);
    expect(await listFacts()).not.toContain(name('fact'));
    text = toYaml(true, { name: name('fact'), kubeconfigContents: '{}' });
    clock.advance(2 * second);
    expect(await listFacts()).toContain(name('fact'));
  });

  test('are seen at once by who asks for the newest', async () => {
    text = toYaml(true);
    await list();
    await save('stored');

    expect(await list()).toEqual([]);
    await live.refresh();
    expect(await list()).toEqual(['stored']);
  });

  test('do not count where account.storage.enabled is false, and count as soon as it is true', async () => {
    await save('stored');
    text = toYaml(false);
    expect(await list()).toEqual([]);

    text = toYaml(true);
    clock.advance(150 * second);
    await live.get();
    await live.refresh();
    expect(await list()).toEqual(['stored']);
  });

  test('win over accounts of the settings with their names, which are reported', async () => {
    await save('both', { permissions: { READ: ['sre'], WRITE: ['sre'] } });
    text = toYaml(true, { name: name('both'), kubeconfigContents: '{}' });
    const { providers } = await live.get();
    expect(providers.findAccount(name('both'))?.permissions).toEqual({ READ: ['sre'], WRITE: ['sre'] });
    expect(providers.rejectedAccounts).toContainEqual({
      name: name('both'),
      reason: 'kubernetes.accounts[0].name: an earlier account has this name',
    });
  });

  test('keep even with a bad definition an account of the settings from taking their place', async () => {
    await save('both', { namingStrategy: 'other' });
    text = toYaml(true, { name: name('both'), kubeconfigContents: '{}' });

    const { providers } = await live.get();

    expect(providers.findAccount(name('both'))).toBeUndefined();
    const [first] = providers.rejectedAccounts.filter((account) => account.name === name('both'));
    expect(first?.reason).toMatch(`stored account "${name('both')}".namingStrategy: expected`);
  });

  test('stay the same objects unless they changed', async () => {
    await save('kept');
    await save('changed');
    text = toYaml(true);
    const before = (await live.get()).providers;

    await save('changed', { namespaces: ['shop'] }, 1);
    await live.refresh();
    const after = (await live.get()).providers;

    expect(after).not.toBe(before);
    expect(after.findAccount(name('kept'))).toBe(before.findAccount(name('kept')));
    expect(after.findAccount(name('changed'))).not.toBe(before.findAccount(name('changed')));
  });

  test('stay in force while the store is away, and nobody waits for it', async () => {
    await save('stored');
    text = toYaml(true);
    expect(await list()).toEqual(['stored']);
    isAway = true;
    clock.advance(2 * second);

    expect(await list()).toEqual(['stored']);
    await live.refresh();
    expect(await list()).toEqual(['stored']);
    await save('other').catch(() => undefined);
    isAway = false;
    await save('next');
    clock.advance(6 * second);
    expect(await list()).toEqual(['next', 'stored']);
  });

  test('must be known before any account is used: settings may be open where the store is not', async () => {
    text = toYaml(true, { name: name('yaml'), kubeconfigContents: '{}' });
    isAway = true;

    await expect(live.get()).rejects.toThrow(UnavailableError);
    isAway = false;
    clock.advance(15 * second);
    expect(await list()).toEqual(['yaml']);
  });
});
