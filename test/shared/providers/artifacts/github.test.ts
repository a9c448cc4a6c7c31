import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { AccessDeniedError, FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { openGitHubSources } from '#providers/artifacts/github.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, createTestOptions, fetchText } from './options.ts';
import { type Origin, startOrigin } from './origin.ts';

const appPrivateKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const contents = '/api/v3/repos/acme/shop/contents/web.yml';

/** A server that describes one file at `contents` and holds it at `/raw/web.yml`. */
function startGitHub(
  describe: (origin: Origin) => JsonObject = ({ url }) => ({ download_url: `${url}/raw/web.yml` }),
) {
  let origin: Origin | undefined;
  const listener: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const raw = pathname === '/raw/web.yml' || request.headers.accept?.endsWith('.raw') === true;
    if (raw) response.end('kind: Pod');
    else if (pathname === contents && origin) response.end(JSON.stringify(describe(origin)));
    else response.writeHead(404).end('{}');
  };
  return startOrigin(listener).then((started) => {
    origin = started;
    return started;
  });
}

function open(account: JsonObject, more: JsonObject = {}) {
  return openGitHubSources(createLocalOptions('github', { accounts: [{ name: 'gh', ...account }], ...more }));
}

function fetchFile(account: JsonObject, artifact: Artifact): Promise<string> {
  return fetchText(open(account), { type: 'github/file', ...artifact });
}

function asked({ requests }: Origin) {
  return requests.map(({ url, headers }) => `${url} ${headers.accept} ${headers.authorization ?? '-'}`);
}

describe('the accounts of artifacts.github', () => {
  test('are rejected for origins beside an app, whose tokens have their own', () => {
    const githubApp = { appId: '1', appPrivateKey };
    expect(open({ githubApp, 'credential-origins': ['https://ghe.example.com'] }).rejectedAccounts).toEqual([
      {
        name: 'gh',
        reason:
          "artifacts.github account 'gh': credentialOrigins: not with githubApp, whose tokens go to its apiBaseUrl alone",
      },
    ]);
  });

  test.each([
    [{ tokenFile: '/secrets/planted' }, 'tokenFile'],
    [{ 'token-file': '/secrets/planted' }, 'tokenFile'],
    [{ usernamePasswordFile: '/secrets/planted' }, 'usernamePasswordFile'],
    [{ githubApp: { appId: '1', appPrivateKeyPath: '/secrets/planted' } }, 'githubApp: appPrivateKeyPath'],
  ])('are rejected for files when deployed, by name: %j', (account, key) => {
    const accounts = [
      { name: 'gh', ...account },
      { name: 'other', token: 'planted' },
    ];
    const { sources, rejectedAccounts } = openGitHubSources(
      createTestOptions({ artifacts: { github: { enabled: true, accounts } } }, { placement: 'deployed' }),
    );
    expect(sources.map(({ name }) => name)).toEqual(['other']);
    expect(rejectedAccounts).toEqual([
      {
        name: 'gh',
        reason: `artifacts.github account 'gh': ${key}: deployed functions read no files, give the value itself`,
      },
    ]);
  });
});

describe('fetching github/file', () => {
  test('asks for the download URL, then downloads', async () => {
    await using origin = await startGitHub();
    const text = await fetchFile(
      { token: 't', credentialOrigins: [origin.url] },
      { reference: origin.url + contents, version: 'release/1 2' },
    );
    expect(text).toBe('kind: Pod');
    expect(asked(origin)).toEqual([`${contents}?ref=release%2F1+2 */* token t`, '/raw/web.yml */* token t']);
  });

  test.each([undefined, ''])('reads master when the version is %j', async (version) => {
    await using origin = await startGitHub();
    await fetchFile(
      {},
      { reference: `${origin.url}${contents}?ref=other`, ...(version === undefined ? {} : { version }) },
    );
    expect(origin.requests[0]?.url).toBe(`${contents}?ref=master`);
  });

  test('makes one request where the contents API gives the file itself', async () => {
    await using origin = await startGitHub();
    const text = await fetchFile(
      { 'use-content-api': 'true', token: 't', credentialOrigins: [origin.url] },
      { reference: origin.url + contents },
    );
    expect(text).toBe('kind: Pod');
    expect(asked(origin)).toEqual([`${contents}?ref=master application/vnd.github.v3.raw token t`]);
  });

  test('asks in the version of the API that the account names', async () => {
    await using origin = await startGitHub();
    await fetchFile({ useContentAPI: true, githubAPIVersion: 'v4' }, { reference: origin.url + contents });
    expect(origin.requests[0]?.headers.accept).toBe('application/vnd.github.v4.raw');
  });

  test('keeps the token from a download URL elsewhere', async () => {
    await using raw = await startOrigin((_, response) => response.end('kind: Pod'));
    await using origin = await startGitHub(() => ({ download_url: `${raw.url}/web.yml?token=short-lived` }));
    expect(
      await fetchFile(
        { token: 'planted', credentialOrigins: [origin.url] },
        { reference: origin.url + contents },
      ),
    ).toBe('kind: Pod');
    expect(asked(raw)).toEqual(['/web.yml?token=short-lived */* -']);
  });

  test.each([
    ['a token', { token: 'planted' }],
    ['a password', { username: 'ann', password: 'planted' }],
    ['an app', { githubApp: { appId: '1', appInstallationId: '7', appPrivateKey } }],
  ])('sends %s to no host but that of GitHub, unless the account names another', async (_, credentials) => {
    for (const useContentAPI of [true, false]) {
      await using foreign = await startGitHub();
      const failure = await getFailure(
        fetchFile({ useContentAPI, ...credentials }, { reference: foreign.url + contents }),
      );
      expect(failure).toBeInstanceOf(AccessDeniedError);
      expect(String(failure)).toContain(
        `artifacts.github account 'gh': its credentials may not go to ${foreign.url}: that origin is not in `,
      );
      expect(foreign.connections).toBe(0);
    }
  });

  test('sends the token of one that names a GitHub Enterprise Server there alone', async () => {
    await using origin = await startGitHub();
    const account = { token: 't', credentialOrigins: [origin.url] };
    await expect(
      fetchFile(account, { reference: 'https://api.github.com/repos/acme/shop/contents/web.yml' }),
    ).rejects.toThrow('its credentials may not go to https://api.github.com');
  });

  test('needs no origin without credentials', async () => {
    await using origin = await startGitHub();
    expect(await fetchFile({}, { reference: origin.url + contents })).toBe('kind: Pod');
  });

  test('takes no description that is nested without end', async () => {
    await using origin = await startOrigin((_, response) => {
      response.end(`{"a":${'['.repeat(10_000)}${']'.repeat(10_000)},"download_url":"http://127.0.0.1:1/"}`);
    });
    await expect(fetchFile({}, { reference: origin.url + contents })).rejects.toThrow(
      'did not tell a download URL',
    );
  });

  test('holds the download URL to the restrictions', async () => {
    await using origin = await startGitHub(() => ({
      download_url: 'http://169.254.169.254/latest/meta-data/',
    }));
    await expect(fetchFile({}, { reference: origin.url + contents })).rejects.toThrow(
      "Host '169.254.169.254' is not allowed",
    );
  });

  test.each([
    ['no download URL', {}],
    ['an empty one', { download_url: '' }],
    ['null', { download_url: null }],
    ['something else', { download_url: 'planted' }],
  ])('explains itself when GitHub tells %s', async (_, description) => {
    await using origin = await startGitHub(() => description);
    const failure = await getFailure(fetchFile({}, { reference: origin.url + contents }));
    expect(failure).toBeInstanceOf(FailedOperationError);
    expect(String(failure)).toContain(`127.0.0.1:${origin.port} did not tell a download URL`);
    expect(String(failure)).not.toContain('planted');
  });

  test('explains itself when the reference is a web page, however long', async () => {
    await using page = await startOrigin((_, response) => response.end('<html>'.repeat(2 ** 21)));
    await expect(fetchFile({}, { reference: `${page.url}/acme/shop/blob/web.yml` })).rejects.toThrow(
      'the reference must be the contents-API URL of a file',
    );
  });
});
