import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RejectedAccount } from '#accounts/model/account.ts';
import { UnavailableError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { plugins } from '#providers/index.ts';
import {
  LiveProviders,
  type LiveProvidersOptions,
  type SettingsSource,
} from '#settings/live/live-providers.ts';
import type { SettingsText } from '#settings/live/settings.ts';
import { parseSettings, readSettingsTexts } from '#settings/live/settings.ts';
import { createSettingsSecret } from '#settings/live/settings-secret.ts';
import { answerJson, startScriptedServer } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const arn = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:busdriver-prod-config-AbCdEf';
const planted = 'planted-s3cr3t-value';
const minute = 60_000;
const throttled = { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' };
const denied = { status: 400, code: 'AccessDeniedException', message: 'No.' };
const badFiat = `${toYaml('one')}services: {fiat: {enabled: true, baseUrl: ${planted}}}\n`;

let aws: AwsEndpoints;
let clock: TestClock;
let live: LiveProviders;
/** Levels and messages, with what came with them. */
let logged: { level: string; message: string; text: string }[];
/** How many times settings were parsed, and providers opened and closed. */
let [parsed, opened, closed] = [0, 0, 0];
let canOpen: boolean;
/** What is left out before providers are asked. */
let leftOut: RejectedAccount[];

beforeEach(async () => {
  aws = await startAwsEndpoints();
  clock = createTestClock();
  logged = [];
  [parsed, opened, closed] = [0, 0, 0];
  canOpen = true;
  leftOut = [];
  live = follow();
});
afterEach(async () => {
  await live[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

/** Follows the secret, on top of files if there are any. */
function follow(files: readonly string[] = [], options: Partial<LiveProvidersOptions> = {}): LiveProviders {
  return new LiveProviders({
    source: createSource(files),
    clock,
    randomness: testRandomness,
    log: createLog(),
    intervalMs: 2 * minute,
    ...options,
  });
}

function createSource(files: readonly string[]): SettingsSource<readonly SettingsText[]> {
  const services = createTestHost({ clock });
  const secret = files.length > 0 ? undefined : createSettingsSecret(arn, services.secrets);
  return {
    read: () => readSettingsTexts({ files, secret, profiles: ['local'] }),
    parse(texts) {
      parsed += 1;
      const { settings } = parseSettings(texts, { profiles: ['local'], environment: {} });
      return { settings, rejectedAccounts: [...leftOut] };
    },
    open({ settings, rejectedAccounts }) {
      opened += 1;
      if (!canOpen) throw new Error('cannot be opened');
      const options = { settings, clock, randomness: testRandomness, log: createLog(), services };
      const all = plugins.map((plugin) => plugin.open({ ...options, placement: 'deployed' }));
      return new ProviderSet([...all, createWitness()], rejectedAccounts);
    },
  };
}

/** A provider that sees when it is closed. */
function createWitness(): Provider {
  return {
    name: 'witness',
    rejectedAccounts: [],
    async [Symbol.asyncDispose]() {
      closed += 1;
    },
  };
}

function createLog(): Logger {
  const write = (level: string) => (message: string, fields?: object) => {
    const error = fields && 'error' in fields ? fields.error : undefined;
    const stack = error instanceof Error ? [error.stack, error.cause, { ...error }] : [];
    logged.push({ level, message, text: JSON.stringify([message, fields, stack]) });
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function toYaml(...names: readonly string[]): string {
  const accounts = names.map((name) => `    - {name: ${name}, kubeconfigContents: ${planted}}\n`);
  return `kubernetes:\n  accounts:\n${accounts.join('')}`;
}

function write(text: string): void {
  aws.secrets.set(arn, { SecretString: text });
}

/** Names of the accounts that a request sees. */
async function list(): Promise<readonly string[]> {
  return (await live.get()).providers.accounts.map(({ name }) => name);
}

/** What a request sees once a reading that is due has ended. */
async function listLater(ms: number): Promise<readonly string[]> {
  clock.advance(ms);
  await live.get().catch(() => undefined);
  await live.refresh();
  return list();
}

/** What a request sees, and the next one after the reading that it started. */
async function listTwice(): Promise<readonly (readonly string[])[]> {
  const first = await list();
  await live.refresh();
  return [first, await list()];
}

function complaints(): readonly string[] {
  return logged.filter(({ level }) => level === 'error').map(({ text }) => text);
}

describe('settings in force', () => {
  test('are read once for many requests, and once an interval from then on', async () => {
    write(toYaml('one'));
    await Promise.all(Array.from({ length: 50 }, list));
    for (let passed = 0; passed < 90; passed += 1) {
      clock.advance(1_000);
      await list();
    }
    expect(aws.calls).toHaveLength(1);
    clock.advance(minute);
    await Promise.all(Array.from({ length: 50 }, list));
    await live.refresh();
    expect(aws.calls).toHaveLength(2);
    expect({ parsed, opened }).toEqual({ parsed: 1, opened: 1 });
  });

  test('change without a restart, and the request that finds them old does not wait', async () => {
    write(toYaml('one'));
    expect(await list()).toEqual(['one']);
    write(toYaml('one', 'two'));
    clock.advance(3 * minute);
    expect(await list()).toEqual(['one']);
    await live.refresh();
    expect(await list()).toEqual(['one', 'two']);
    expect(logged.map(({ message }) => message)).toContain('the settings have changed');
  });

  test('that are ten minutes old are not used before they were looked at', async () => {
    write(toYaml('one'));
    await list();
    write(toYaml('two'));
    clock.advance(10 * minute);
    expect(await list()).toEqual(['two']);
  });

  test('may have to be younger than that', async () => {
    live = follow([], { intervalMs: 20_000, staleAgeMs: minute });
    write(toYaml('one'));
    await list();
    write(toYaml('two'));
    clock.advance(50_000);
    expect(await listTwice()).toEqual([['one'], ['two']]);
    write(toYaml('three'));
    clock.advance(minute);
    expect(await list()).toEqual(['three']);
  });

  test('tell which accounts are left out before providers are asked, and when that changes', async () => {
    write(toYaml('one'));
    await list();
    expect(complaints()).toEqual([]);
    leftOut.push({ name: 'hub', reason: 'moved' });
    write(`${toYaml('one')}# Changed.\n`);
    await listLater(3 * minute);
    expect((await live.get()).providers.rejectedAccounts).toEqual([{ name: 'hub', reason: 'moved' }]);
    expect(logged.map(({ text }) => text)).toContainEqual(expect.stringContaining('"account":"hub"'));
  });

  test('that cannot be looked at within three seconds are used, however old', async () => {
    write(toYaml('one'));
    await list();
    clock.advance(15 * minute);
    const release = aws.hold();
    const listed = list();
    await expect.poll(() => aws.calls).toHaveLength(2);
    clock.advance(3_000);
    expect(await listed).toEqual(['one']);
    release();
  });

  test('stay, with all connections, when only comments changed', async () => {
    write(toYaml('one'));
    const { providers } = await live.get();
    write(`# For the team.\n${toYaml('one')}`);
    expect(await listLater(3 * minute)).toEqual(['one']);
    expect((await live.get()).providers).toBe(providers);
  });

  test('may come from files, too', async () => {
    const file = join(aws.dir, 'clouddriver.yml');
    await writeFile(file, toYaml('one'));
    live = follow([file]);
    expect(await list()).toEqual(['one']);
    await writeFile(file, toYaml('two'));
    expect(await listLater(3 * minute)).toEqual(['two']);
    await rm(file);
    expect(await listLater(3 * minute)).toEqual(['two']);
    expect(aws.calls).toEqual([]);
  });

  test('can be asked for at once, though not all the time', async () => {
    write(toYaml('one'));
    await list();
    write(toYaml('two'));
    await live.refresh();
    expect(await list()).toEqual(['one']);
    clock.advance(11_000);
    await live.refresh();
    expect(await list()).toEqual(['two']);
  });
});

describe('a request under way', () => {
  test('ends on the providers that it began with, which are closed long after', async () => {
    await using server = await startScriptedServer();
    const account = { name: 'one', kubeconfigContents: server.getKubeconfig() };
    write(JSON.stringify({ kubernetes: { accounts: [account] } }));
    const answer = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    server.script(async (response, request) => {
      asked.resolve();
      await answer.promise;
      const metadata = { name: 'web', namespace: 'shop' };
      answerJson(200, { apiVersion: 'v1', kind: 'ConfigMap', metadata })(response, request);
      await once(response, 'close');
    });
    const { providers } = await live.get();
    const reader = await providers.getLiveReader('one', 'manifests');
    const reading = reader.getManifest({
      account: 'one',
      location: 'shop',
      name: 'configMap web',
      includeEvents: false,
      revealSecrets: true,
    });
    await asked.promise;

    write(toYaml('two'));
    expect(await listLater(3 * minute)).toEqual(['two']);
    expect(await listLater(15 * minute)).toEqual(['two']);
    expect(closed).toBe(0);
    answer.resolve();
    expect(await reading).toMatchObject({ account: 'one' });

    await listLater(6 * minute);
    expect(closed).toBe(1);
    expect(opened).toBe(2);
  });
});

describe('bad settings', () => {
  test.each([
    [`a: 1\nb: ${planted}: 2`, 'secret busdriver-prod-config:2:4: not YAML'],
    [`artifacts: {http: {urlRestrictions: ${planted}}, accounts: 1}\n- x`, 'not YAML'],
    [`kubernetes[1].x: ${planted}`, 'expected indexes from 0'],
    [`kind: Pod\napiVersion: ${planted}`, 'secret busdriver-prod-config: holds no settings'],
  ])('change nothing, and the log tells: %j', async (text, message) => {
    write(toYaml('one'));
    await list();
    write(text);
    expect(await listLater(3 * minute)).toEqual(['one']);
    expect(complaints()).toEqual([expect.stringContaining(message)]);
    expect(complaints()[0]).toContain('the former ones stay in force');
    expect(await listLater(3 * minute)).toEqual(['one']);
    expect(complaints()).toHaveLength(2);
    expect(String(live.problem)).toContain(message);
    write(toYaml('three'));
    expect(await listLater(3 * minute)).toEqual(['three']);
    expect(live.problem).toBeUndefined();
    expect(JSON.stringify(logged)).not.toContain(planted);
  });

  test('at the start are told to each request, and read again soon', async () => {
    write(`a: 1\nb: ${planted}: 2`);
    for (let request = 0; request < 5; request += 1) {
      const error = await live.get().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(String(error)).toContain('cannot be used: secret busdriver-prod-config:2:4: not YAML');
      expect(String(error)).not.toContain(planted);
    }
    expect(aws.calls).toHaveLength(1);
    expect(complaints()).toHaveLength(1);
    write(toYaml('one'));
    clock.advance(11_000);
    expect(await list()).toEqual(['one']);
  });

  test('that say nothing at all are an installation without accounts', async () => {
    write('# Put your clouddriver.yml here.\n');
    expect(await list()).toEqual([]);
    write(toYaml('one'));
    expect(await listLater(3 * minute)).toEqual(['one']);
    expect(complaints()).toEqual([]);
  });
});

describe('settings that are bad in what they say of authorization', () => {
  test.each([
    [badFiat, 'secret busdriver-prod-config:4: services.fiat.baseUrl: expected an http or https URL'],
    [
      `${toYaml('one')}busdriver.identity: {mode: signed, jwksUrl: "http://${planted}"}\n`,
      'secret busdriver-prod-config:4: busdriver.identity.issuer: expected a value, got none',
    ],
  ])('let nobody in any more, until they are mended', async (text, message) => {
    write(toYaml('one'));
    await list();
    write(text);
    clock.advance(3 * minute);
    await list();
    await live.refresh();
    await expect(list()).rejects.toThrow(message);
    await expect(list()).rejects.not.toThrow(planted);

    // Neither bad nor unreadable settings bring back those before.
    write('[');
    clock.advance(11_000);
    await expect(list()).rejects.toThrow('not YAML');
    aws.secrets.set(arn, denied);
    clock.advance(11_000);
    await expect(list()).rejects.toBeInstanceOf(UnavailableError);

    write(toYaml('one'));
    clock.advance(11_000);
    expect(await list()).toEqual(['one']);
  });

  test('let nobody in when no provider can work with the rest of them', async () => {
    write(toYaml('one'));
    await list();
    canOpen = false;
    write(toYaml('two'));
    expect(await listLater(3 * minute)).toEqual(['one']);
    write(`${toYaml('two')}services: {fiat: {enabled: true}}\n`);
    await expect(listLater(3 * minute)).rejects.toThrow('cannot be opened');
  });
});

describe('a secret that cannot be read', () => {
  test('leaves what was read before in force, however long', async () => {
    write(toYaml('one'));
    await list();
    aws.secrets.set(arn, throttled);
    expect(await listLater(3 * minute)).toEqual(['one']);
    expect(complaints()).toEqual([]);
    expect(logged.map(({ level }) => level)).toContain('warn');
    aws.secrets.set(arn, denied);
    for (let passed = 0; passed < 6; passed += 1) expect(await listLater(3 * minute)).toEqual(['one']);
    expect(complaints().at(-1)).toContain('allow secretsmanager:GetSecretValue');
    expect(String(live.problem)).toContain('AccessDenied');
  });

  test('at the start is told with what to do', async () => {
    await expect(list()).rejects.toThrow(
      `The settings cannot be used: cannot read the secret ${arn} in eu-west-1: ResourceNotFoundException`,
    );
    write(toYaml('one'));
    clock.advance(11_000);
    expect(await list()).toEqual(['one']);
  });
});
