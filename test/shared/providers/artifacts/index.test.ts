import { describe, expect, test } from 'vitest';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { createTestLog, createTestOptions, neverAborted, readText } from './options.ts';
import { startOrigin } from './origin.ts';

/** Settings of two accounts called `shared`; the one of GitHub sends its token to `gitHubOrigin`. */
function toSettings(gitHubOrigin: string): JsonObject {
  const gitHub = { name: 'shared', token: 't', useContentAPI: true, credentialOrigins: [gitHubOrigin] };
  return {
    artifacts: {
      'url-restrictions': { 'allowed-ips': ['127.0.0.1'] },
      http: { enabled: true, accounts: [{ name: 'shared' }, { name: 'bad', username: {} }] },
      github: { enabled: true, accounts: [gitHub] },
    },
  };
}

const settings = toSettings('https://ghe.example.com');

describe('the provider of artifacts', () => {
  test('opens without a configuration, with the accounts that are built in', async () => {
    await using provider = artifactsPlugin.open(createTestOptions({}));
    expect(provider).toMatchObject({ name: 'artifacts', rejectedAccounts: [] });
    expect(provider.artifacts?.accounts.map(({ name }) => name)).toEqual([
      'embedded-artifact',
      'custom-artifact',
      'docker-registry',
      'kubernetes',
    ]);
  });

  test('lists accounts by name, type and types, and nothing more', async () => {
    await using provider = artifactsPlugin.open(createTestOptions(settings));
    expect(provider.artifacts?.accounts).toContainEqual({
      name: 'shared',
      type: 'artifacts-github',
      types: ['github/file'],
    });
    expect(provider.rejectedAccounts.map(({ name }) => name)).toEqual(['bad']);
  });

  test('finds the account by name and type: two kinds may share a name', async () => {
    await using origin = await startOrigin((request, response) => response.end(request.url));
    await using provider = artifactsPlugin.open(createTestOptions(toSettings(origin.url)));
    const read = async (type: string) => {
      const artifact = { type, artifactAccount: 'shared', reference: `${origin.url}/file` };
      return readText((await provider.artifacts?.fetch(artifact, neverAborted()))?.body);
    };
    expect(await read('http/file')).toBe('/file');
    expect(await read('github/file')).toBe('/file?ref=master');
    expect(origin.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'token t']);
  });

  test('reads embedded artifacts', async () => {
    await using provider = artifactsPlugin.open(createTestOptions({}));
    const artifact = { type: 'embedded/base64', artifactAccount: 'embedded-artifact', reference: btoa('hi') };
    expect(await readText((await provider.artifacts?.fetch(artifact, neverAborted()))?.body)).toBe('hi');
  });

  test.each<[Artifact, Error]>([
    [{}, new InvalidInputError('An artifact account must be supplied to download this artifact')],
    [
      { type: 'http/file', artifactAccount: '' },
      new InvalidInputError('An artifact account must be supplied to download this artifact'),
    ],
    [
      { type: 'http/file', artifactAccount: 'Shared' },
      new NotFoundError("Credentials 'Shared' supporting artifact type 'http/file' cannot be found"),
    ],
    [
      { type: 's3/object', artifactAccount: 'shared' },
      new NotFoundError("Credentials 'shared' supporting artifact type 's3/object' cannot be found"),
    ],
    [
      { artifactAccount: 'shared' },
      new NotFoundError("Credentials 'shared' supporting artifact type '' cannot be found"),
    ],
    [
      { type: 'http/file', artifactAccount: 'bad' },
      new NotFoundError("Credentials 'bad' supporting artifact type 'http/file' cannot be found"),
    ],
  ])('answers %j with %s', async (artifact, error) => {
    await using provider = artifactsPlugin.open(createTestOptions(settings));
    await expect(provider.artifacts?.fetch(artifact, neverAborted())).rejects.toThrow(error);
  });
});

test('keeps secrets out of errors, logs and rejections', async () => {
  const planted = { username: 'planted', password: 'planted', token: 'planted' };
  const log = createTestLog();
  await using origin = await startOrigin((request, response) => {
    const code = Number(request.url?.split('/')[1]);
    response.writeHead(code, { location: 'http://10.0.0.1/planted', 'x-token': 'planted' }).end('planted');
  });
  const credentialOrigins = [origin.url, 'http://10.0.0.1'];
  const artifacts = {
    urlRestrictions: { allowedIps: ['127.0.0.1'] },
    http: {
      enabled: true,
      accounts: [
        { name: 'a', ...planted, credentialOrigins },
        { name: 'b', password: { planted } },
        { name: 'c', ...planted, credentialOrigins: ['https://planted:planted@a.example.com'] },
      ],
    },
    github: {
      enabled: true,
      accounts: [
        { name: 'a', ...planted, credentialOrigins },
        { name: 'b', githubApp: { appPrivateKey: 'planted' } },
      ],
    },
  };
  await using provider = artifactsPlugin.open(createTestOptions({ artifacts }, { log }));
  const messages = provider.rejectedAccounts.map(({ reason }) => reason);
  const hosts = [
    origin.url,
    origin.url.replace('//', '//planted:planted@'),
    'http://10.0.0.1',
    'https://foreign.example.com',
    'planted',
  ];

  for (const type of ['http/file', 'github/file']) {
    for (const host of hosts) {
      for (const code of [200, 302, 401, 404, 500, 503]) {
        const reference = `${host}/${code}/planted?token=planted#planted`;
        const content = provider.artifacts?.fetch({ type, artifactAccount: 'a', reference }, neverAborted());
        messages.push(await Promise.resolve(content).then(() => 'fetched', String));
      }
    }
  }

  expect(new Set(messages).size).toBeGreaterThan(8);
  expect(log.lines.length).toBeGreaterThan(4);
  expect([...messages, ...log.lines].filter((line) => line.includes('planted'))).toEqual([]);
});
