import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import { createCredentials } from '#oci/credentials.ts';
import { systemClock } from '#platform/services/system.ts';
import { parseRegistryAccounts } from '#providers/docker-registry/account.ts';
import { rejected } from '#test/support/providers/rejected-accounts.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { parseAccount } from './test-account.ts';

const address = 'https://registry.test';

function parse(accounts: JsonValue, more: Partial<Parameters<typeof parseRegistryAccounts>[0]> = {}) {
  return parseRegistryAccounts({ settings: { dockerRegistry: { accounts } }, placement: 'local', ...more });
}

describe('Docker registry accounts', () => {
  test.each([
    ['https://index.docker.io', 'https://index.docker.io/', 'index.docker.io'],
    ['https://registry.test:5000/v2/', 'https://registry.test:5000/', 'registry.test:5000'],
    ['http://host/artifactory/docker/v2', 'http://host/artifactory/docker/', 'host/artifactory/docker'],
  ])('take %s for an address', (given, url, registry) => {
    const account = parseAccount({ address: given });
    expect([account.baseUrl.href, account.registry]).toEqual([url, registry]);
  });

  test('are shown with their defaults, and without what is secret', () => {
    const account = parseAccount({
      address,
      username: 'u',
      password: 'planted',
      repositories: ['shop/cart'],
    });
    expect(account.details).toEqual({
      address,
      registry: 'registry.test',
      email: null,
      trackDigests: false,
      inspectDigests: false,
      sortTagsByDate: false,
      cacheIntervalSeconds: 30,
      cacheThreads: 1,
      clientTimeoutMillis: 60_000,
      paginateSize: 100,
      insecureRegistry: false,
      v2Endpoint: `${address}/v2`,
      skip: [],
    });
    expect(account).toMatchObject({ environment: 'hub', accountType: 'hub', requiredGroupMembership: [] });
  });

  test.each(rejected.registries)('are left out alone: %j', (entry, sentence) => {
    const { accounts, rejected } = parse([{ name: 'a', address }, entry, { name: 'b', address }]);
    expect(accounts.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(rejected).toEqual([
      { name: entry['name'] ?? 'dockerRegistry.accounts[1]', reason: expect.stringContaining(sentence) },
    ]);
    expect(rejected[0]?.reason).toMatch(/^dockerRegistry\.accounts\[1\](?!.*planted)/);
  });

  test('keep to the first of a name, and to names that no other provider has', () => {
    const entries = [{ name: 'a' }, { name: 'a', address }, { name: 'k8s', address }, { name: 'b', address }];
    const { accounts, rejected } = parse(entries, { accounts: { takenNames: new Set(['k8s']) } });
    expect(accounts.map(({ name }) => name)).toEqual(['b']);
    expect(rejected.map(({ name }) => name)).toEqual(['a', 'a', 'k8s']);
  });

  test('are none where they are switched off, and read no file where functions have none', () => {
    const settings = { dockerRegistry: { enabled: false, accounts: [{ name: 'a', address }] } };
    expect(parseRegistryAccounts({ settings, placement: 'local' }).accounts).toEqual([]);
    const entry = { name: 'a', address, username: 'u', passwordFile: '/run/planted' };
    expect(parse([entry]).accounts).toHaveLength(1);
    const { rejected } = parse([entry], { placement: 'deployed' });
    expect(rejected[0]?.reason).toContain('passwordFile: deployed functions read no files');
  });

  test('made by an API come first, and use the machine only where the settings allow it', () => {
    const own = { type: 'dockerRegistry', name: 'a', address: 'https://own.test' };
    const taken = parse([{ name: 'a', address }], { accounts: { stored: [own] } });
    expect(taken.accounts.map(({ baseUrl }) => baseUrl.href)).toEqual(['https://own.test/']);
    expect(taken.rejected.map(({ reason }) => reason)).toEqual([
      'dockerRegistry.accounts[0].name: an earlier account has this name',
    ]);
    const stored = [
      { ...own, catalogFile: '/run/planted' },
      { ...own, name: 'b', ecr: { registryId: '123456789012', region: 'eu-west-1' } },
      { ...own, name: 'c', address: 'http://123456789012.dkr.ecr.eu-west-1.amazonaws.com' },
      { ...own, name: 'd', address: 'https://123456789012.dkr.ecr.eu-west-1.amazonaws.com' },
    ];
    const confined = parse([], { accounts: { stored } });
    expect(confined.accounts.map(({ name }) => name)).toEqual(['d']);
    expect(confined.rejected.map(({ reason }) => reason.replace(/ (program|at Amazon) .*/, ''))).toEqual([
      'stored account "a": catalogFile: a file or',
      `stored account "b".address: expected the registry's own`,
      `stored account "c".address: expected the registry's own`,
    ]);
    const busdriver = { accounts: { allowMachineAccess: true } };
    const allowed = parse([], { settings: { busdriver }, accounts: { stored } });
    expect(allowed.accounts.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('are warned of a password with blanks around it', () => {
    const { warnings } = parse([{ name: 'a', address, password: ' planted ' }]);
    expect(warnings.map(({ reason }) => reason)).toEqual([
      'dockerRegistry.accounts[0].password: it begins or ends with blanks, which are sent as they are',
    ]);
  });
});

describe('the credentials of an account', () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const parts = { clock: systemClock, log, environment: { PASSWORD: 'from-program' } };
  const toBasic = (text: string) => Buffer.from(text).toString('base64');

  test('come from a file, a program or the file of docker login', async () => {
    await using dir = await makeTempDir();
    const passwordFile = path.join(dir.path, 'password');
    await writeFile(passwordFile, 'from-file\n');
    const dockerconfigFile = path.join(dir.path, 'config.json');
    await writeFile(
      dockerconfigFile,
      JSON.stringify({ auths: { 'registry.test': { auth: toBasic('d:login') } } }),
    );
    const rows = [
      [{ passwordFile }, 'u:from-file'],
      [{ passwordCommand: 'echo "$PASSWORD"' }, 'u:from-program'],
      [{ dockerconfigFile }, 'd:login'],
    ] as const;
    for (const [options, expected] of rows) {
      const account = parseAccount({ address, username: 'u', ...options });
      expect(await createCredentials(account, parts).get()).toBe(toBasic(expected));
    }
  });

  test('are told as missing without the program that should give them', async () => {
    const account = parseAccount({ address, username: 'u', passwordCommand: 'echo planted >&2; exit 3' });
    await expect(createCredentials(account, parts).get()).rejects.toThrow(
      /^the credentials of the account cannot be read: passwordCommand failed$/,
    );
  });

  test('are a secret where the password refers to one', async () => {
    const password = 'encrypted:secrets-manager!r:eu-west-1!s:hub!k:password';
    const secret = {
      text: 'from-secret',
      versionId: '1',
      asOfMs: 0,
      readAgainAtMs: Number.POSITIVE_INFINITY,
    };
    const asked: unknown[] = [];
    const secrets = {
      read: async () => secret.text,
      readRoles: async () => undefined,
      async follow(reference: object) {
        asked.push(reference);
        return secret;
      },
    };
    const account = parseAccount({ address, username: 'u', password });
    const credentials = createCredentials(account, { ...parts, services: { secrets } });
    expect(await credentials.get()).toBe(toBasic('u:from-secret'));
    expect(asked).toEqual([{ id: 'hub', region: 'eu-west-1', key: 'password' }]);
  });
});
