import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { startGitServer } from '#test/support/artifacts/git-server.ts';
import { createTestOptions } from '../options.ts';
import { openGitAccount, readArchive } from './git-archives.ts';

describe('an account', () => {
  const open = (account: JsonObject, shared: JsonObject = {}) => openGitAccount(account, {}, shared);

  test.each([
    { account: {}, type: 'NONE' },
    { account: { username: 'ann', password: 'planted' }, type: 'USER_PASS' },
    { account: { token: 'planted' }, type: 'TOKEN' },
  ])('of auth type $type reads no references of SSH', async ({ account, type }) => {
    await using opened = open(account);
    for (const reference of ['git@github.com:acme/shop.git', 'ssh://git@github.com/acme/shop.git']) {
      const failure = opened.fetch({ type: 'git/repo', reference });
      await expect(failure).rejects.toBeInstanceOf(InvalidInputError);
      await expect(failure).rejects.toThrow(
        `Git reference "${reference}" is invalid for credentials with auth type ${type}`,
      );
    }
  });

  test.each([
    ['sshPrivateKeyFilePath', '/keys/id'],
    ['sshPrivateKeyPassphrase', 'planted'],
    ['sshPrivateKeyPassphraseCmd', '/bin/planted'],
    ['sshKnownHostsFilePath', '/keys/known_hosts'],
    ['sshTrustUnknownHosts', true],
  ])('with %s is left out by name where it is deployed, and without a key everywhere', (key, value) => {
    const deployed = openGitAccount({ [key]: value }, { placement: 'deployed' });
    const local = open({ [key]: value });
    const isKey = key === 'sshPrivateKeyFilePath';
    for (const { rejectedAccounts } of isKey ? [deployed] : [deployed, local]) {
      expect(rejectedAccounts).toMatchObject([{ name: 'repos', reason: expect.stringContaining(key) }]);
      expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
    }
    expect(local.rejectedAccounts).toHaveLength(isKey ? 0 : 1);
  });

  test.each([
    ['sshPrivateKeyFilePath', '/keys/"planted'],
    ['sshKnownHostsFilePath', '/keys/%planted'],
    ['sshKnownHostsFilePath', '/keys/planted\nProxyCommand id'],
    ['sshPrivateKeyPassphrase', 'planted\0'],
    ['sshPrivateKeyPassphraseCmd', '/bin/planted\0'],
  ])('with a %s that ssh would read otherwise is left out by name', (key, value) => {
    const { rejectedAccounts } = open({ sshPrivateKeyFilePath: '/keys/id', [key]: value });
    expect(rejectedAccounts).toMatchObject([{ name: 'repos', reason: expect.stringContaining(key) }]);
    expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
  });

  test.each([
    { account: { username: 'ann', password: 'planted' }, type: 'USER_PASS' },
    { account: { token: 'planted' }, type: 'TOKEN' },
  ])('of auth type $type has no use of a key', async ({ account, type }) => {
    await using opened = open({ ...account, sshPrivateKeyFilePath: '/keys/id' });
    const failure = opened.fetch({ reference: 'git@github.com:acme/shop.git' });
    await expect(failure).rejects.toThrow(`auth type ${type}`);
  });

  test('reads its allowedHosts alone', async () => {
    await using server = await startGitServer();
    const repository = await server.createRepository('shop');
    await repository.commit({ 'README.md': 'first' });
    const reference = `${server.url}/shop/.git`;
    await using other = open({ allowedHosts: ['GitHub.com', 'git.example.com'] });
    for (const refused of [reference, 'git@example.com:acme/shop.git', 'https://github.com.example.com/a']) {
      await expect(other.fetch({ reference: refused })).rejects.toBeInstanceOf(AccessDeniedError);
    }
    expect(server.connections).toBe(0);
    await using here = open({ allowedHosts: '127.0.0.1, github.com' });
    expect((await readArchive(await here.fetch({ reference }))).size).toBe(1);
  });

  test('reads references that match validGitUrlRegex as a whole', async () => {
    await using server = await startGitServer();
    await (await server.createRepository('shop')).commit({ 'README.md': 'first' });
    const reference = `${server.url}/shop/.git`;
    await using account = open({}, { validGitUrlRegex: 'http://[^/]+/sh[a-z]+/\\.git' });
    expect((await readArchive(await account.fetch({ reference }))).size).toBe(1);
    const before = server.requests.length;
    for (const refused of [`${reference}/x`, `x${reference}`, 'planted']) {
      const failure = account.fetch({ reference: refused });
      await expect(failure).rejects.toBeInstanceOf(InvalidInputError);
      await expect(failure).rejects.toThrow('validGitUrlRegex');
    }
    expect(server.requests.length).toBe(before);
  });

  test.each([
    { validGitUrlRegex: '(' },
    { cloneRetentionMinutes: 'soon' },
    { cloneRetentionMaxBytes: [] },
    { cloneWaitLockTimeoutSec: -1 },
  ])('is left out when what counts for all is %j', (shared) => {
    const [key = ''] = Object.keys(shared);
    expect(open({}, shared).rejectedAccounts).toMatchObject([
      { name: 'repos', reason: expect.stringContaining(key) },
    ]);
  });

  test('is opened beside settings of clones that are kept, which change nothing', () => {
    const shared = { cloneRetentionMinutes: 60, cloneRetentionMaxBytes: 1e8, cloneWaitLockTimeoutSec: 60 };
    expect(open({}, shared).rejectedAccounts).toEqual([]);
    const warnings = (gitRepo: JsonObject) =>
      artifactsPlugin.open(createTestOptions({ artifacts: { gitRepo: { accounts, ...gitRepo } } }))
        .accountWarnings;
    const accounts = [{ name: 'repos' }];
    for (const cloneRetentionMinutes of [60, '60', -1]) {
      expect(warnings({ enabled: true, ...shared, cloneRetentionMinutes })).toEqual([
        {
          message: 'setting of no effect',
          reason: expect.stringMatching(
            /^artifacts\.gitRepo\.cloneRetentionMinutes: .*cloneWaitLockTimeoutSec/,
          ),
        },
      ]);
    }
    expect(warnings({ enabled: true, ...shared, cloneRetentionMinutes: 0 })).toEqual([]);
    expect(warnings({ enabled: true, cloneRetentionMinutes: 60, accounts: [] })).toEqual([]);
    expect(warnings(shared)).toEqual([]);
  });

  test.each([
    { account: { username: 'ann', password: 'secret' }, sent: 'ann:secret' },
    { account: { token: 'secret' }, sent: 'token:secret' },
    { account: { username: 'ann', password: 'secret', token: 'other' }, sent: 'ann:secret' },
  ])('sends $sent with each request', async ({ account, sent }) => {
    await using server = await startGitServer();
    await (await server.createRepository('shop')).commit({ 'README.md': 'first' });
    await using opened = open({ ...account, credentialOrigins: [server.url] });
    await opened.fetch({ reference: `${server.url}/shop/.git/` });
    const headers = server.requests.map(({ headers: { authorization } }) => authorization);
    expect(headers).toEqual(Array.from({ length: 3 }, () => `Basic ${btoa(sent)}`));
  });

  test('with credentials but no origins for them refuses everything', async () => {
    await using account = open({ token: 'planted' });
    const failure = account.fetch({ reference: 'https://github.com/acme/shop.git' });
    await expect(failure).rejects.toBeInstanceOf(AccessDeniedError);
    await expect(failure).rejects.toThrow('credentialOrigins');
  });

  test('sends credentials to its allowedHosts, over HTTPS alone', async () => {
    await using account = open({ token: 'planted', allowedHosts: ['127.0.0.1'] });
    const failure = account.fetch({ reference: 'http://127.0.0.1:1/acme/shop.git' });
    await expect(failure).rejects.toThrow('its credentials may not go to http://127.0.0.1:1');
    await using spelled = open({ token: 'planted', allowedHosts: ['169.254.1.1'] });
    const refused = spelled.fetch({ reference: 'https://169.254.1.1/acme/shop.git' });
    await expect(refused).rejects.toThrow('rejectVerbatimIps');
  });

  test('of a GitHub App sends a token of its installation to the git beside its API', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await using server = await startGitServer(({ url = '', method }, response) => {
      if (!url.startsWith('/api/v3/')) return false;
      const token = { token: 'ghs_1', expires_at: '2026-01-01T01:00:00Z' };
      response.end(JSON.stringify(method === 'POST' ? token : { id: 7 }));
      return true;
    });
    await (await server.createRepository('acme/shop.git')).commit({ 'README.md': 'first' });
    const githubApp = {
      appId: '1',
      appPrivateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      apiBaseUrl: `${server.url}/api/v3`,
    };
    await using account = open({ githubApp });
    const reference = `${server.url}/acme/shop.git`;
    // Below it stands the folder of the repository.
    await account.fetch({ reference });
    const asked = server.requests.map(({ method, url }) => `${method} ${url}`);
    expect(asked).toEqual([
      'GET /api/v3/repos/acme/shop/installation',
      'POST /api/v3/app/installations/7/access_tokens',
      'GET /acme/shop.git/info/refs?service=git-upload-pack',
      'POST /acme/shop.git/git-upload-pack',
      'POST /acme/shop.git/git-upload-pack',
    ]);
    for (const { headers } of server.requests.slice(2)) {
      expect(headers.authorization).toBe(`Basic ${btoa('x-access-token:ghs_1')}`);
    }
    const elsewhere = account.fetch({ reference: 'https://github.com/acme/shop.git' });
    await expect(elsewhere).rejects.toThrow('githubApp.apiBaseUrl');
  });
});
