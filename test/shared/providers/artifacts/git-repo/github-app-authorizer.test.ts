import { generateKeyPairSync, verify } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { AccessDeniedError, FailedOperationError } from '#core/errors.ts';
import type { GitHubApp } from '#providers/artifacts/git-repo/github-app.ts';
import {
  appTokenLengthMax,
  createGitHubAppAuthorizer,
} from '#providers/artifacts/git-repo/github-app-authorizer.ts';
import { startTestDownloader } from '../download/test-downloader.ts';
import { startOrigin } from '../origin.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** GitHub's API for one app that is installed at `acme` (installation 7), on a clock that tests turn. */
async function startGitHub(app: Partial<GitHubApp> = {}, override?: RequestListener) {
  const downloader = startTestDownloader();
  const { clock } = downloader;
  let minted = 0;
  const listener: RequestListener = (request, response) => {
    if (/^\/repos\/acme\/[^/]+\/installation$/i.test(request.url ?? '')) return response.end('{"id":7}');
    if (request.url !== '/app/installations/7/access_tokens') return response.writeHead(404).end();
    minted += 1;
    const expiresAt = new Date(clock.now() + 3_600_000).toISOString();
    response.writeHead(201).end(JSON.stringify({ token: `installed-${minted}`, expires_at: expiresAt }));
  };
  const origin = await startOrigin(override ?? listener);
  const authorize = createGitHubAppAuthorizer({
    downloader,
    clock,
    app: {
      appId: '42',
      privateKey,
      installationId: undefined,
      apiBaseUrl: origin.url,
      allowedOrganizations: [],
      ...app,
    },
  });
  return {
    origin,
    clock,
    authorize: async (path: string) => (await authorize(new URL(path, origin.url)))?.authorization,
    async [Symbol.asyncDispose]() {
      await downloader[Symbol.asyncDispose]();
      await origin[Symbol.asyncDispose]();
    },
  };
}

function calls(requests: readonly IncomingMessage[]): string[] {
  return requests.map(({ method, url }) => `${method} ${url}`);
}

const file = '/repos/Acme/shop/contents/web.yml?ref=master';

test('finds the installation by the repository, and takes its token', async () => {
  await using github = await startGitHub();
  expect(await github.authorize(file)).toBe('token installed-1');
  expect(calls(github.origin.requests)).toEqual([
    'GET /repos/Acme/shop/installation',
    'POST /app/installations/7/access_tokens',
  ]);
});

test('takes the installation that is configured', async () => {
  await using github = await startGitHub({ installationId: '7' });
  expect(await github.authorize('/anything')).toBe('token installed-1');
  expect(calls(github.origin.requests)).toEqual(['POST /app/installations/7/access_tokens']);
});

test('signs in as the app, for minutes, with RS256', async () => {
  await using github = await startGitHub();
  await github.authorize(file);
  for (const { headers } of github.origin.requests) {
    const [kind, token = ''] = (headers.authorization ?? '').split(' ');
    const [header = '', claims = '', signature = ''] = token.split('.');
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    const nowS = github.clock.now() / 1000;
    expect(kind).toBe('Bearer');
    expect(decode(header)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(decode(claims)).toEqual({ iss: '42', iat: nowS - 60, exp: nowS + 540 });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  }
});

test('keeps a token until shortly before it expires', async () => {
  await using github = await startGitHub();
  expect(await github.authorize(file)).toBe('token installed-1');
  github.clock.advance(54 * 60_000);
  expect(await github.authorize('/repos/acme/other/contents/x')).toBe('token installed-1');
  github.clock.advance(60_000);
  expect(await github.authorize(file)).toBe('token installed-2');
});

test('takes one token for all who ask at once', async () => {
  await using github = await startGitHub();
  const headers = await Promise.all(Array.from({ length: 8 }, () => github.authorize(file)));
  expect(new Set(headers)).toEqual(new Set(['token installed-1']));
  expect(github.origin.requests).toHaveLength(2);
});

test('asks again after a failure', async () => {
  let failing = true;
  await using github = await startGitHub({ installationId: '7' }, (_, response) => {
    if (failing) response.writeHead(401).end();
    else response.end(JSON.stringify({ token: 't', expires_at: '2026-01-01T01:00:00Z' }));
  });
  await expect(github.authorize(file)).rejects.toThrow('Received 401 status code');
  failing = false;
  expect(await github.authorize(file)).toBe('token t');
});

test('gives no token to another host, scheme or port', async () => {
  await using github = await startGitHub({ installationId: '7' });
  for (const origin of ['http://evil.example.com', 'https://127.0.0.1', 'http://127.0.0.1:1']) {
    expect(await github.authorize(origin + file)).toBeUndefined();
  }
  expect(github.origin.requests).toEqual([]);
});

test('gives no token when the URL names no repository to find the installation by', async () => {
  await using github = await startGitHub();
  expect(await github.authorize('/raw/acme/shop/web.yml')).toBeUndefined();
  expect(github.origin.requests).toEqual([]);
});

test('reads only what the allowed organizations own, before any call', async () => {
  await using github = await startGitHub({ allowedOrganizations: ['acme'] });
  expect(await github.authorize(file)).toBe('token installed-1');
  const other = github.authorize('/repos/other/shop/contents/web.yml');
  await expect(other).rejects.toThrow(
    new AccessDeniedError(
      "GitHub App 42 may not read repositories of 'other' (githubApp.allowedOrganizations)",
    ),
  );
  expect(github.origin.requests).toHaveLength(2);
});

test('says that the app is not installed', async () => {
  await using github = await startGitHub();
  await expect(github.authorize('/repos/other/shop/contents/web.yml')).rejects.toThrow(
    new FailedOperationError(`GitHub App 42 has no such installation at 127.0.0.1:${github.origin.port}`),
  );
});

test.each(['"../../../../planted"', '{}', '1e999', '""'])(
  'makes no path of the installation %s',
  async (id) => {
    await using github = await startGitHub({}, (_, response) => response.end(`{"id":${id}}`));
    await expect(github.authorize(file)).rejects.toThrow(/^GitHub told App 42 no id of an installation$/);
    expect(github.origin.requests).toHaveLength(1);
  },
);

test.each(['planted\r\nX-Evil: 1', 'plant ed', 'x'.repeat(appTokenLengthMax + 1), ''])(
  'takes no token that no header could carry (%#)',
  async (token) => {
    await using github = await startGitHub({ installationId: '7' }, (_, response) =>
      response.end(JSON.stringify({ token, expires_at: '2026-01-01T01:00:00Z' })),
    );
    await expect(github.authorize(file)).rejects.toThrow(/^GitHub gave App 42 no installation token$/);
  },
);

test('leaves its own token behind when GitHub redirects it elsewhere', async () => {
  await using other = await startOrigin((_, response) => response.end('{"id":7}'));
  await using github = await startGitHub({}, (request, response) => {
    if (request.method === 'GET') response.writeHead(301, { location: other.url }).end();
    else response.end(JSON.stringify({ token: 't', expires_at: '2026-01-01T01:00:00Z' }));
  });
  expect(await github.authorize(file)).toBe('token t');
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test.each(['', '{}', '{"token":"planted"}', '{"token":"planted","expires_at":"soon"}'])(
  'refuses the token answer %j',
  async (answer) => {
    await using github = await startGitHub({ installationId: '7' }, (_, response) => response.end(answer));
    await expect(github.authorize(file)).rejects.toThrow(/^GitHub gave App 42 no installation token$/);
  },
);
