import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { getErrorMessage } from '#core/errors.ts';
import type { KubernetesClientOptions } from '#providers/kubernetes/client/kubernetes-client.ts';
import { requestJson } from '#providers/kubernetes/credentials/json-exchange.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import { answerJson, type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';
import { type IdentityProviderOptions, startIdentityProvider } from './identity-provider.ts';

/** A cluster that takes any token, an identity provider, and a clock for both. */
async function start(options: Partial<IdentityProviderOptions> = {}) {
  const clock = new TurnedClock();
  const api = await startScriptedServer();
  onTestFinished(() => api[Symbol.asyncDispose]());
  const provider = await startIdentityProvider({ clock, ...options });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return { clock, api, provider };
}

/** A client of a machine whose kubeconfig has this user. */
function open(
  { api, clock }: { readonly api: ScriptedServer; readonly clock: TurnedClock },
  user: object,
  options: Partial<KubernetesClientOptions> = {},
) {
  const client = createTestClient(
    { kubeconfigContents: api.getKubeconfig({ user }) },
    { clock, environment: {}, ...options },
  );
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

/** The tokens that the API server saw, in order, each once. */
function listTokens({ seen }: ScriptedServer): string[] {
  return [...new Set(seen.map(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? ''))];
}

async function getFailure(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => 'no failure', getErrorMessage);
}

test('an id-token that lives is used as it is', async () => {
  const setup = await start();
  const token = setup.provider.createToken(3600);
  await open(setup, setup.provider.getUser({ 'id-token': token })).getJson('/version');
  expect(listTokens(setup.api)).toEqual([token]);
  expect(setup.provider.renewals).toEqual([]);
});

test('one that has expired is renewed, and so is the next, each by the refresh token of its time', async () => {
  const setup = await start();
  const { clock, api, provider } = setup;
  const client = open(setup, provider.getUser());
  await Promise.all([client.getJson('/version'), client.getJson('/api')]);
  clock.turn(3_700_000);
  await client.getJson('/version');
  expect(listTokens(api)).toHaveLength(2);
  expect(provider.renewals.map((form) => form.get('client_id'))).toEqual(['busdriver', 'busdriver']);
  expect(provider.renewals[0]?.get('refresh_token')).toBe(provider.refreshToken);
  expect(provider.renewals[1]?.get('refresh_token')).not.toBe(provider.refreshToken);
});

test('what one client renewed counts for the others of the process', async () => {
  const setup = await start();
  const { api, provider } = setup;
  const user = provider.getUser();
  await Promise.all([open(setup, user), open(setup, user)].map((client) => client.getJson('/version')));
  await open(setup, user).getJson('/version');
  expect(listTokens(api)).toHaveLength(1);
  expect(provider.renewals).toHaveLength(1);
});

test('a refresh token that is not replaced is used again', async () => {
  const setup = await start({ rotates: false });
  const { clock, provider } = setup;
  const client = open(setup, provider.getUser({ 'id-token': undefined }));
  await client.getJson('/version');
  clock.turn(3_700_000);
  await client.getJson('/version');
  const used = provider.renewals.map((form) => form.get('refresh_token'));
  expect(used).toEqual([provider.refreshToken, provider.refreshToken]);
});

test('a token that the API server refuses is renewed before its time', async () => {
  const setup = await start();
  const { api, provider } = setup;
  const revoked = provider.createToken(3600);
  api.script((response, request) => {
    const isRevoked = request.headers.authorization === `Bearer ${revoked}`;
    answerJson(isRevoked ? 401 : 200, {})(response, request);
  });
  await open(setup, provider.getUser({ 'id-token': revoked })).getJson('/version');
  expect(listTokens(api)).toHaveLength(2);
  expect(provider.renewals).toHaveLength(1);
});

test.each([
  [
    'by a header',
    { authorization: `Basic ${Buffer.from('busdriver:s%3Acr+t').toString('base64')}` },
    [null, null],
  ],
  [
    'in the form, where the identity provider takes no other way',
    { metadata: { token_endpoint_auth_methods_supported: ['client_secret_post'] } },
    ['busdriver', 's:cr t'],
  ],
])('a client with a secret shows it %s', async (_how, options, client) => {
  const setup = await start(options);
  await open(setup, setup.provider.getUser({ 'client-secret': 's:cr t' })).getJson('/version');
  const [form] = setup.provider.renewals;
  expect([form?.get('client_id'), form?.get('client_secret')]).toEqual(client);
});

test("the identity provider's authority may be a file", async () => {
  const dir = await makeTempDir();
  onTestFinished(() => dir[Symbol.asyncDispose]());
  const setup = await start();
  const file = join(dir.path, 'idp.crt');
  await writeFile(file, setup.provider.server.authority.certificate);
  const authority = { 'idp-certificate-authority-data': undefined, 'idp-certificate-authority': file };
  await open(setup, setup.provider.getUser(authority)).getJson('/version');
  expect(setup.provider.renewals).toHaveLength(1);
});

test('an identity provider is reached by the proxy of the environment', async () => {
  const setup = await start();
  const { server } = setup.provider;
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    const target = connect(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;

  // A server of this machine is asked directly, so a name that only the proxy knows stands for it.
  const url = new URL('https://idp.example.com/.well-known/openid-configuration');
  const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
  const access = { ca: server.authority.certificate, environment };
  const failure = await getFailure(requestJson(url, access));

  expect(tunnels).toEqual(['idp.example.com:443']);
  expect(failure).toBe('https://idp.example.com cannot be reached (ERR_TLS_CERT_ALTNAME_INVALID)');
});

/** What the user has, what his kubeconfig and the identity provider say, and what is told. */
type WrongUser = readonly [string, Partial<IdentityProviderOptions> & { config?: UserFields }, RegExp];
type UserFields = { readonly [field: string]: string | undefined };

test.each<WrongUser>([
  [
    'a refresh token that is gone',
    { config: { 'refresh-token': 'old-secret' } },
    /its identity provider https:\/\/127\.0\.0\.1:\d+ does not renew its id-token \(invalid_grant\): log in again/,
  ],
  [
    'a wrong client',
    { authorization: 'Basic other', config: { 'client-secret': 'my-secret' } },
    /\(invalid_client\): log in again/,
  ],
  [
    'an answer without a token',
    { answer: { id_token: null } },
    /gave no id_token: log in again with the scope openid/,
  ],
  [
    'another issuer',
    { metadata: { issuer: 'https://other' } },
    /tells nothing of itself: its answer names another issuer/,
  ],
  [
    'a token endpoint without TLS',
    { metadata: { token_endpoint: 'http://127.0.0.1/token' } },
    /the token_endpoint of its identity provider is no https URL/,
  ],
  [
    'an issuer without TLS',
    { config: { 'idp-issuer-url': 'http://127.0.0.1:1' } },
    /its idp-issuer-url is no https URL/,
  ],
  [
    'no server',
    { config: { 'idp-issuer-url': 'https://127.0.0.1:1' } },
    /https:\/\/127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/,
  ],
  [
    'an unknown authority',
    { config: { 'idp-certificate-authority-data': undefined } },
    /cannot be reached \((UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)\w+\)/,
  ],
  ['too large an answer', { metadata: { large: 'x'.repeat(2 ** 20) } }, /answers more than 1048576 bytes/],
  [
    'nothing to renew it by',
    { config: { 'refresh-token': undefined } },
    /its id-token has expired, and its kubeconfig lacks refresh-token, client-id or idp-issuer-url/,
  ],
])('a user with %s is told so, without any secret', async (_has, { config, ...provider }, told) => {
  const setup = await start(provider);
  const client = open(setup, setup.provider.getUser(config));
  const failure = await getFailure(client.getJson('/version'));
  expect(failure).toMatch(told);
  expect(failure).toMatch(/^account "prod" \(context "dev"\): /);
  for (const secret of [setup.provider.refreshToken, 'old-secret', 'my-secret', 'eyJ', 'refresh-', 'access-'])
    expect(failure.replace('lacks refresh-token', '')).not.toContain(secret);
  expect(setup.api.seen).toEqual([]);
});

test('an identity provider that failed is left alone for five seconds', async () => {
  const setup = await start();
  const { clock, provider } = setup;
  const client = open(setup, provider.getUser({ 'refresh-token': `gone-${provider.refreshToken}` }));
  const failures = [
    await getFailure(client.getJson('/version')),
    await getFailure(client.getJson('/version')),
  ];
  expect(failures[1]).toBe(failures[0]);
  expect(provider.renewals).toHaveLength(1);
  clock.turn(5_000);
  await getFailure(client.getJson('/version'));
  expect(provider.renewals).toHaveLength(2);
});

test('an identity provider that says nothing is given up', async () => {
  const server = await startScriptedServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.script((response) => response.write('{'));
  const access = { ca: server.authority.certificate, environment: {}, timeoutMs: 200 };
  await expect(requestJson(new URL(server.url), access)).rejects.toThrow(
    `${server.url} did not answer in time`,
  );
});
