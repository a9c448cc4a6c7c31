import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { SharedClients } from '#provider-kit/shared-clients.ts';
import { dockerRegistryPlugin } from '#providers/docker-registry/index.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const address = 'https://registry.example.com/hub';
const basicAuth = Buffer.from('robot:s3cr3t').toString('base64');

describe('credentials of Docker registries, for other providers,', () => {
  function open(account: JsonObject, more: Partial<ProviderContext> = {}) {
    const settings = {
      dockerRegistry: { accounts: [{ name: 'hub', address: `${address}/v2`, ...account }] },
    };
    const parts = { clock: systemClock, randomness: systemRandomness, log, placement: 'local' as const };
    const provider = dockerRegistryPlugin.open({ settings, ...parts, ...more });
    const get = (name: string) => provider.registryCredentials?.getCredential(name);
    return { provider, get, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
  }

  test('are those of the account, with its address and email', async () => {
    await using named = open({ username: 'robot', password: 's3cr3t', email: 'robot@example.com' });
    expect(await named.get('hub')).toEqual({ address, email: 'robot@example.com', basicAuth });
    await using anonymous = open({});
    expect(await anonymous.get('hub')).toEqual({ address, email: '', basicAuth: undefined });
    await expect(named.get('other')).rejects.toThrow("there is no Docker registry account 'other'");
  });

  test('are those of now, where a file holds them', async () => {
    await using temp = await makeTempDir();
    const passwordFile = path.join(temp.path, 'password');
    await writeFile(passwordFile, 'old');
    await using opened = open({ username: 'robot', passwordFile });
    expect((await opened.get('hub'))?.basicAuth).not.toBe(basicAuth);
    await writeFile(passwordFile, 's3cr3t\n');
    expect((await opened.get('hub'))?.basicAuth).toBe(basicAuth);
  });

  test('are those of now, where a secret holds them', async () => {
    let password = 'old';
    const clock = createTestClock();
    const secrets = {
      read: async () => password,
      follow: async () => ({
        ...{ text: password, versionId: password },
        ...{ asOfMs: clock.now(), readAgainAtMs: clock.now() + 60_000 },
      }),
      readRoles: async () => undefined,
    };
    const reference = 'encrypted:secrets-manager!r:eu-west-1!s:hub';
    await using opened = open({ username: 'robot', password: reference }, { services: { secrets }, clock });
    expect((await opened.get('hub'))?.basicAuth).not.toBe(basicAuth);
    password = 's3cr3t';
    clock.advance(120_000);
    await expect.poll(async () => (await opened.get('hub'))?.basicAuth).toBe(basicAuth);
  });

  test('of an account that has not changed are kept when others have', async () => {
    let reads = 0;
    const reading = { text: 's3cr3t', versionId: '1', asOfMs: 0, readAgainAtMs: Number.POSITIVE_INFINITY };
    const secrets = {
      read: async () => 's3cr3t',
      follow: async () => {
        reads += 1;
        return reading;
      },
      readRoles: async () => undefined,
    };
    const account = { username: 'robot', password: 'encrypted:secrets-manager!r:eu-west-1!s:hub' };
    const more = { services: { secrets }, clients: new SharedClients() };
    const openBeside = (email: string) =>
      open(account, { ...more, accounts: { stored: [{ ...account, name: 'other', address, email }] } });
    await using before = openBeside('a@example.com');
    for (const name of ['hub', 'other']) await before.get(name);
    expect(reads).toBe(2);
    await using after = openBeside('b@example.com');
    expect((await after.get('hub'))?.basicAuth).toBe(basicAuth);
    expect(reads).toBe(2);
    expect((await after.get('other'))?.email).toBe('b@example.com');
    expect(reads).toBe(3);
    // What the former ones opened stays for those that came after them.
    await before[Symbol.asyncDispose]();
    expect((await after.get('hub'))?.basicAuth).toBe(basicAuth);
  });

  test('are told by the name of the option when they cannot be read', async () => {
    await using opened = open({ username: 'robot', passwordFile: '/nowhere/password' });
    await expect(opened.get('hub')).rejects.toThrow(/the credentials of the account cannot be read/);
  });

  test('are not given where functions have none, and stand in no account', async () => {
    await using given = open({ username: 'robot', password: 's3cr3t' });
    expect(JSON.stringify(toSet(given.provider).accounts.map(({ details }) => details))).not.toMatch(
      /robot|s3cr3t/,
    );
    await using withheld = open({}, { credentials: 'withheld', placement: 'deployed' });
    await expect(withheld.get('hub')).rejects.toThrow('this function has no credentials of account hub');
  });
});
