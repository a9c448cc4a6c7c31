import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { getErrorMessage } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import {
  brokerTokensMax,
  createBrokerSource,
  type TokenBroker,
} from '#providers/kubernetes/credentials/broker-credential.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { type BrokerMode, createTestToken, startTokenBroker } from '#test/support/services/token-broker.ts';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import { answerJson, startScriptedServer, toBase64 } from '../client/scripted-server.ts';

/** A cluster that takes any token, a broker whose tokens are numbered, and a clock for both. */
async function start(lifeMs: number | undefined = 3_600_000) {
  const clock = new TurnedClock();
  const api = await startScriptedServer();
  onTestFinished(() => api[Symbol.asyncDispose]());
  let count = 0;
  const broker = await startTokenBroker(() => {
    count += 1;
    return lifeMs === 0 ? `opaque-${count}` : createTestToken(`token-${count}`, clock.now() + lifeMs);
  });
  onTestFinished(() => broker[Symbol.asyncDispose]());
  const settings: TokenBroker = {
    name: 'arcade',
    url: new URL(broker.url),
    getApiKey: async () => 'test',
    timeoutMs: 3_000,
    maxAgeSeconds: 60,
  };
  const createSource = (own: Partial<TokenBroker> = {}, provider = 'google') =>
    createBrokerSource({ ...settings, ...own }, provider, { clock, environment: {} });
  const open = (own: Partial<TokenBroker> = {}, provider?: string) => {
    const server = { host: api.url, caData: toBase64(api.authority.certificate) };
    const client = createTestClient({ server }, { clock, serverCredential: createSource(own, provider) });
    onTestFinished(() => client[Symbol.asyncDispose]());
    return client;
  };
  const listTokens = () => [...new Set(api.seen.map(({ headers }) => headers.authorization))];
  return { clock, api, broker, createSource, open, listTokens };
}

const getFailure = (promise: Promise<unknown>) => promise.then(() => 'no failure', getErrorMessage);

test('a thousand accounts with one provider ask the broker once, and again when the token ends', async () => {
  const { clock, broker, createSource } = await start();
  const sources = Array.from({ length: 1_000 }, () => createSource());
  const first = await Promise.all(sources.map((source) => source()));
  clock.turn(3_600_000 - 61_000);
  await Promise.all(sources.map((source) => source()));
  expect(broker.calls).toEqual(['google']);
  clock.turn(2_000);
  const next = await Promise.all(sources.map((source) => source()));
  expect(broker.calls).toHaveLength(2);
  expect(new Set(first.map(({ authorization }) => authorization)).size).toBe(1);
  expect(new Set(next.map(({ authorization }) => authorization)).size).toBe(1);
  expect(next[0]?.authorization).not.toBe(first[0]?.authorization);
});

test('a token that says nothing of its end is used for as long as the setting says', async () => {
  const { clock, broker, open, listTokens } = await start(0);
  const client = open({ maxAgeSeconds: 30 });
  await client.getJson('/version');
  clock.turn(23_000);
  await client.getJson('/version');
  expect(broker.calls).toHaveLength(1);
  clock.turn(8_000);
  await client.getJson('/version');
  expect(listTokens()).toEqual(['Bearer opaque-1', 'Bearer opaque-2']);
});

test('each provider and each key has a token of its own', async () => {
  const { broker, open, listTokens } = await start();
  broker.providers.set('microsoft', () => 'of-microsoft');
  await open().getJson('/version');
  await open({}, 'microsoft').getJson('/version');
  expect(broker.calls).toEqual(['google', 'microsoft']);
  expect(listTokens()[1]).toBe('Bearer of-microsoft');
});

test('a token that the API server refuses is replaced once, for all accounts that have it', async () => {
  const { clock, api, broker, open, listTokens } = await start();
  const [one, other] = [open(), open()];
  await Promise.all([one.getJson('/version'), other.getJson('/version')]);
  const [revoked] = listTokens();
  api.script((response, request) =>
    answerJson(request.headers.authorization === revoked ? 401 : 200, {})(response, request),
  );

  await one.getJson('/version');
  clock.turn(11_000);
  await other.getJson('/version');

  expect(broker.calls).toHaveLength(2);
  expect(listTokens()).toHaveLength(2);
  // A cluster that takes no token at all does not have the broker asked each time.
  api.script(answerJson(401, {}));
  for (let request = 0; request < 5; request += 1) await getFailure(one.getJson('/version'));
  expect(broker.calls).toHaveLength(3);
  clock.turn(11_000);
  for (let request = 0; request < 5; request += 1) await getFailure(one.getJson('/version'));
  expect(broker.calls).toHaveLength(4);
});

test('a key that was replaced is read again when the broker refuses the old one', async () => {
  const { broker, open } = await start();
  const client = open({ getApiKey: async (isDoubted) => (isDoubted ? 'new-key' : 'old-key') });
  broker.apiKey = 'new-key';
  await client.getJson('/version');
  expect(broker.calls).toHaveLength(2);
});

test.each<[BrokerMode | '400' | '403' | 'gone' | 'bad key', string]>([
  ['400', 'token broker "arcade" answers 400: check that it knows the account\'s tokenProvider'],
  ['403', 'token broker "arcade" answers 403: check its API key, busdriver.tokenBrokers.arcade.apiKey'],
  ['500', 'token broker "arcade" answers 500'],
  ['no-json', 'token broker "arcade" answers 200 without a token'],
  ['no-token', 'token broker "arcade" answers 200 without a token'],
  ['huge', 'answers more than 65536 bytes'],
  ['silent', 'did not answer in time'],
  ['gone', 'cannot be reached (ECONNREFUSED)'],
  ['bad key', 'the API key of token broker "arcade" has blanks, line breaks or letters beyond ASCII'],
])('an account says what is wrong with its broker, and no secret: %s', async (fault, message) => {
  const { broker, open } = await start();
  const planted = 'planted-4711';
  broker.providers.set('google', () => planted);
  if (fault === 'gone') await broker[Symbol.asyncDispose]();
  if (/^[a-z5]/.test(fault)) broker.mode = fault as BrokerMode;
  const keys: { [fault: string]: string } = { '403': planted, 'bad key': `${planted}\n` };
  const own = { getApiKey: async () => keys[fault] ?? 'test', timeoutMs: fault === 'silent' ? 200 : 3_000 };
  const startedAtMs = performance.now();
  const failure = await getFailure(open(own, fault === '400' ? 'unheard' : 'google').getJson('/version'));
  // Far from the ten seconds that any exchange may take.
  expect(performance.now() - startedAtMs).toBeLessThan(8_000);
  expect(failure).toContain('account "prod" (server)');
  expect(failure).toContain(message);
  expect(failure).not.toContain(planted);
});

test('three failures in a row leave the broker alone for five seconds', async () => {
  const { clock, broker, open, createSource } = await start();
  broker.mode = '500';
  const source = createSource();
  for (let call = 0; call < 10; call += 1) await getFailure(source());
  expect(broker.calls).toHaveLength(3);
  expect(await getFailure(open().getJson('/version'))).toContain('has failed 3 times in a row');
  broker.mode = 'up';
  clock.turn(5_001);
  await open().getJson('/version');
  expect(broker.calls).toHaveLength(4);
});

test('of more providers than are remembered, the one used longest ago is asked for again', async () => {
  const { broker, createSource } = await start();
  const names = Array.from({ length: brokerTokensMax + 1 }, (_, index) => `provider-${index}`);
  for (const name of names) broker.providers.set(name, () => `token of ${name}`);
  for (const name of names) await createSource({}, name)();
  expect(broker.calls).toEqual(names);
  await createSource({}, names.at(-1))();
  expect(broker.calls).toEqual(names);
  await createSource({}, names[0])();
  expect(broker.calls.at(-1)).toBe(names[0]);
});

test.each([
  ['a path stands before that of each request', '/gateway/', '/gateway/version'],
  ['no path', '', '/version'],
])('the host of an account: %s', async (_, path, expected) => {
  const { api, createSource } = await start();
  const server = { host: `${api.url}${path}`, caData: toBase64(api.authority.certificate) };
  await using client = createTestClient({ server }, { serverCredential: createSource() });
  await client.getJson('/version');
  expect(api.seen.map((request) => request.path)).toEqual([expected]);
});

test.each([
  ['', 'certificate'],
  [toBase64('no PEM'), 'server.caData: expected certificates in PEM, in base64'],
  ['test', 'server.caData: expected certificates in PEM, in base64'],
])('authorities %j do not make the server trusted', async (caData, message) => {
  const { api, createSource } = await start();
  const server = { host: api.url, caData };
  await using client = createTestClient({ server }, { serverCredential: createSource() });
  expect(await getFailure(client.getJson('/version'))).toContain(message);
});

describeWithCluster('an API server', (cluster) => {
  test('takes the tokens of a broker, and the next ones once they were revoked', async () => {
    await using namespace = await createNamespace('broker');
    const accounts = `/api/v1/namespaces/${namespace.name}/serviceaccounts`;
    const metadata = (name: string) => ({ metadata: { name } });
    await Promise.all(['one', 'two'].map((name) => requestApi('POST', accounts, metadata(name))));
    let name = 'one';
    await using broker = await startTokenBroker(async () => {
      const answer = await requestApi('POST', `${accounts}/${name}/token`, { spec: {} });
      return asString(getPath(answer, 'status', 'token')) ?? '';
    });
    const caData = toBase64(await readFile(cluster.caFile, 'utf8'));
    const settings = { name: 'arcade', url: new URL(broker.url), timeoutMs: 3_000, maxAgeSeconds: 60 };
    const serverCredential = createBrokerSource({ ...settings, getApiKey: async () => 'test' }, 'google', {
      clock: systemClock,
      environment: {},
    });
    await using client = createTestClient({ server: { host: cluster.server, caData } }, { serverCredential });
    await client.getJson('/api');
    await requestApi('DELETE', `${accounts}/one`);
    name = 'two';
    // The API server remembers for ten seconds whose token it took.
    await expect
      .poll(
        async () => {
          await client.getJson('/api');
          return broker.calls.length;
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBe(2);
  });
});
