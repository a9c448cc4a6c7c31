import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { startWorld } from '#test/support/agents/agent-world.ts';
import { connectForHints } from '#test/support/agents/hint-socket.ts';
import { startJwksServer } from '#test/support/agents/jwks-server.ts';
import { callRaw, openRawAgent, type RawAgent } from '#test/support/agents/raw-agent.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { startSystem } from '#test/support/system/system.ts';

const over = 'The session is over: open another one';

/** The account `edge` as the API takes it, whose agents sign with keys of these signers. */
function toDefinition(first: TokenSigner, ...others: readonly TokenSigner[]): object {
  const keys = others.flatMap(({ jwks }, index) =>
    jwks.keys.map((key) => ({ ...key, kid: `other-${index}` })),
  );
  const jwks = { keys: [...first.jwks.keys, ...keys] };
  return { type: 'kubernetes', ...toAgentAccount('edge', { ...first, jwks }) };
}

async function define(url: string, ...[method, target, body]: [string, string, object?]): Promise<void> {
  expect(await callRaw(url, { method, target, ...(body && { body }) })).toMatchObject({ status: 200 });
}

/** What becomes of every call of a session by which it would keep, or get, anything of the account. */
async function tryAll(
  { call, look, renew, take, commit }: RawAgent,
  { task, read }: { readonly task: string; readonly read: string },
): Promise<{ readonly [what: string]: number }> {
  const lease = { fence: 1, sequence: 0 };
  const caches = '/agent/v1/caches/edge';
  const answers = {
    work: look(),
    'renew the session': renew(),
    'take a task': take(task),
    'renew a lease': call('PUT', `/agent/v1/tasks/${task}/lease`, lease),
    commit: commit(task, { lease, next: 'release', entries: [] }),
    'take a read': call('POST', `/agent/v1/reads/${read}/lease`, {}),
    'answer a read': call('PUT', `/agent/v1/reads/${read}/answer`, {
      take: 1,
      part: 0,
      last: true,
      data: '',
    }),
    'claim a cache': call('POST', `${caches}/claims`, { agent: 'core' }),
    'read an epoch': call('GET', `${caches}/epoch`),
  };
  const seen = Object.entries(answers).map(async ([what, answer]) => [what, (await answer).status] as const);
  return Object.fromEntries(await Promise.all(seen));
}

const allRefused = {
  ...{ work: 401, 'renew the session': 401, 'take a task': 401, 'renew a lease': 401, commit: 401 },
  ...{ 'take a read': 401, 'answer a read': 401, 'claim a cache': 401, 'read an epoch': 401 },
};

/** Waits until an agent is told of a live read. @returns its id */
async function findRead(agent: RawAgent): Promise<string> {
  const find = async () => (await agent.listWork()).find(({ kind }) => kind === 'READ')?.id;
  await expect.poll(find).toBeDefined();
  return (await find()) ?? '';
}

test('the session of a key that an account has no more is over, with its leases and the reads that it took', async () => {
  const [former, later] = [await createTokenSigner(), await createTokenSigner()];
  await using world = await startWorld([]);
  const { url } = world.system;
  await define(url, 'POST', '/credentials', toDefinition(former));
  const agent = await openRawAgent(url, former, { agentId: 'former', accounts: ['edge'] });
  using socket = await connectForHints(url, agent.token);
  const task = await world.system.postOperations([toDeploy('edge', 'default', ['x'])]);
  expect((await agent.take(task)).status).toBe(200);
  const asked = fetch(new URL('/manifests/edge/default/configMap%20x', url));
  const read = await findRead(agent);
  expect((await agent.call('POST', `/agent/v1/reads/${read}/lease`, {})).status).toBe(200);
  const agents = () => callRaw(url, { method: 'GET', target: '/credentials/edge/agents' });
  expect((await agents()).body).toMatchObject({ generation: 0, connected: 1 });

  await define(url, 'PUT', '/credentials/edge', toDefinition(later));
  expect(await tryAll(agent, { task, read })).toEqual(allRefused);
  expect((await agent.take(task)).body['message']).toBe(over);
  expect(await socket.closed).toBe(4401);
  expect((await agents()).body).toMatchObject({
    ...{ generation: 1, connected: 0, state: 'enrolled' },
    history: [{ event: 'ended' }],
  });
  const opening = openRawAgent(url, former, { agentId: 'former', accounts: ['edge'] });
  await expect(opening).rejects.toThrow('proves the agent of none');

  const next = await openRawAgent(url, later, { agentId: 'later', accounts: ['edge'] });
  // Its lease is nobody's to take away: it lapses.
  expect((await next.take(task)).body).toMatchObject({ status: 409, reason: 'held' });
  expect((await asked).status).toBe(503);
});

test('of an account that was deleted no session goes on, whoever makes one of its name', async () => {
  const [former, later] = [await createTokenSigner(), await createTokenSigner()];
  await using world = await startWorld([]);
  const { system } = world;
  const { url } = system;
  for (const [next, what] of [
    [later, 'with keys of another cluster'],
    [former, 'with the same'],
  ] as const) {
    await define(url, 'POST', '/credentials', toDefinition(former));
    const agent = await openRawAgent(url, former, { agentId: 'former', accounts: ['edge'] });
    await define(url, 'DELETE', '/credentials/edge');
    await define(url, 'POST', '/credentials', toDefinition(next));
    const task = await system.postOperations([toDeploy('edge', 'default', [`of the next one ${what}`])]);
    expect([what, await tryAll(agent, { task, read: 'none' })]).toEqual([what, allRefused]);
    const now = await openRawAgent(url, next, { agentId: 'now', accounts: ['edge'] });
    expect([what, (await now.take(task)).status]).toEqual([what, 200]);
    await define(url, 'DELETE', '/credentials/edge');
  }
});

test('a key that is added ends nothing, nor does another change; one that is taken away later does', async () => {
  const [former, later] = [await createTokenSigner(), await createTokenSigner()];
  await using world = await startWorld([]);
  const { url } = world.system;
  await define(url, 'POST', '/credentials', toDefinition(former));
  const agent = await openRawAgent(url, former, { agentId: 'former', accounts: ['edge'] });
  const rotation: readonly (readonly [string, object, number])[] = [
    ['another key beside it', toDefinition(former, later), 200],
    ['namespaces', { ...toDefinition(former, later), namespaces: ['shop'] }, 200],
    ['the same keys in another order', toDefinition(later, former), 200],
    ['without the first', toDefinition(later), 401],
  ];
  for (const [what, definition, status] of rotation) {
    await define(url, 'PUT', '/credentials/edge', definition);
    expect([what, (await agent.look()).status]).toEqual([what, status]);
  }
  const { body } = await callRaw(url, { method: 'GET', target: '/credentials/edge/agents' });
  expect([body['generation'], body['history']]).toMatchObject([1, [{ event: 'ended' }]]);
});

test('an account of the settings ends sessions so, too, once it has another key', async () => {
  const [former, later] = [await createTokenSigner(), await createTokenSigner()];
  await using dir = await makeTempDir();
  const file = path.join(dir.path, 'clouddriver.yml');
  const configure = (signer: TokenSigner) =>
    writeFile(
      file,
      JSON.stringify({
        busdriver: { agents: { enabled: true } },
        kubernetes: { accounts: [toAgentAccount('edge', signer)], cache: { enabled: false } },
      }),
    );
  await configure(former);
  await using system = await startSystem({ config: [file] });
  const agent = await openRawAgent(system.url, former, { agentId: 'former', accounts: ['edge'] });
  const task = await system.postOperations([toDeploy('edge', 'default', ['x'])]);

  await configure(later);
  await expect.poll(async () => (await agent.look()).status).toBe(401);
  expect(await tryAll(agent, { task, read: 'none' })).toEqual(allRefused);
});

test('keys at a URL are looked at when a session is renewed', async () => {
  const [former, later] = [await createTokenSigner(), await createTokenSigner()];
  await using dir = await makeTempDir();
  await using server = await startJwksServer();
  server.serve(former.jwks.keys);
  const { issuer, subject } = former;
  const auth = { type: 'serviceAccount', issuer, subject, jwksUri: server.url };
  const agents = { enabled: true, jwksHosts: [new URL(server.url).host] };
  const kubernetes = { accounts: [{ name: 'edge', agent: { auth } }], cache: { enabled: false } };
  const [file, authority] = ['clouddriver.yml', 'ca.crt'].map((name) => path.join(dir.path, name));
  if (file === undefined || authority === undefined) throw new Error('no paths');
  await writeFile(authority, server.authority);
  await writeFile(file, JSON.stringify({ busdriver: { agents }, kubernetes }));
  await using system = await startSystem({ config: [file], env: { NODE_EXTRA_CA_CERTS: authority } });
  const agent = await openRawAgent(system.url, former, { agentId: 'former', accounts: ['edge'] });
  const again = async () => {
    // What it remembers of keys it forgets.
    await system.restart();
    const target = `/agent/v1/sessions/${agent.session}`;
    const { token } = agent;
    return callRaw(system.url, { method: 'POST', target, token, body: { journalFormat: 1 } });
  };
  expect((await again()).status).toBe(200);
  // Silence says nothing of a key.
  server.answer = (_request, response) => response.writeHead(503).end();
  expect((await again()).status).toBe(200);
  server.serve(later.jwks.keys);
  expect(await again()).toMatchObject({ status: 401, body: { message: over } });
});
