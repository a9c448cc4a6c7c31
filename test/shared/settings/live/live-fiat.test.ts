import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { plugins } from '#providers/index.ts';
import { LiveProviders } from '#settings/live/live-providers.ts';
import { parseSettings } from '#settings/live/settings.ts';
import { createTestLog, createTestOptions } from '#test/shared/providers/artifacts/options.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { startFiat } from '#test/support/services/fiat.ts';

const minute = 60_000;

let text: string;
let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let live: LiveProviders;

beforeEach(() => {
  clock = createTestClock();
  log = createTestLog();
  live = new LiveProviders({
    source: {
      read: async () => text,
      parse() {
        const texts = [{ file: 'clouddriver.yml', text, isKubeconfig: false }];
        const { settings } = parseSettings(texts, { profiles: ['local'], environment: {} });
        return { settings, rejectedAccounts: [] };
      },
      open({ settings }) {
        const options = createTestOptions(settings, { clock, log, randomness: testRandomness });
        return new ProviderSet(plugins.map((plugin) => plugin.open(options)));
      },
    },
    clock,
    randomness: testRandomness,
    log,
    intervalMs: 2 * minute,
  });
});
afterEach(() => live[Symbol.asyncDispose]());

function write(settings: string): void {
  text = settings;
}

function toYaml(...names: readonly string[]): string {
  const accounts = names.map((name) => `    - {name: ${name}, kubeconfigContents: "{}"}\n`);
  return `kubernetes:\n  accounts:\n${accounts.join('')}`;
}

/** Names of the accounts that a request sees once a reading that is due has ended. */
async function listLater(ms: number): Promise<readonly string[]> {
  clock.advance(ms);
  await live.get().catch(() => undefined);
  await live.refresh();
  return (await live.get()).providers.accounts.map(({ name }) => name);
}

describe('settings with Fiat', () => {
  const toFiatYaml = (url: string, ...names: readonly string[]) =>
    `${toYaml(...names)}services: {fiat: {enabled: true, baseUrl: "${url}"}}\n`;
  const allows = async (): Promise<boolean | undefined> => {
    const authorizer = (await live.get()).providers.findAuthorizer();
    return (await authorizer?.getPermission('ada', AbortSignal.timeout(20_000)))?.isAdmin;
  };

  test('have it asked, and go on with it when they turn it off, which the log tells', async () => {
    await using fiat = await startFiat({ users: { ada: { admin: true } } });
    write(toYaml('one'));
    expect(await allows()).toBeUndefined();
    write(toFiatYaml(fiat.url, 'one'));
    await listLater(3 * minute);
    expect(await allows()).toBe(true);

    write(toYaml('one', 'two'));
    expect(await listLater(3 * minute)).toEqual(['one', 'two']);
    expect(await allows()).toBe(true);
    expect(log.lines.filter((line) => line.includes('Fiat'))).toEqual([
      expect.stringMatching(
        /^the settings turn Fiat off, which is obeyed after a restart only: it is still asked/,
      ),
    ]);
    write(
      `${toYaml('two')}services: {fiat: {enabled: false, baseUrl: "http://elsewhere", allowStaleSeconds: 9999}}\n`,
    );
    expect(await listLater(3 * minute)).toEqual(['two']);
    expect(await allows()).toBe(true);

    // Nor are they a way round it.
    write(toFiatYaml('planted', 'one'));
    await expect(listLater(3 * minute)).rejects.toThrow('services.fiat.baseUrl');
    write(toYaml('one'));
    expect(await listLater(3 * minute)).toEqual(['one']);
    expect(await allows()).toBe(true);
  });

  test('may tell another place of it', async () => {
    await using fiat = await startFiat({ users: { ada: { admin: true } } });
    await using other = await startFiat({ users: { ada: {} } });
    write(toFiatYaml(fiat.url, 'one'));
    expect(await allows()).toBe(true);
    write(toFiatYaml(other.url, 'one'));
    await listLater(3 * minute);
    expect(await allows()).toBe(false);
  });
});
