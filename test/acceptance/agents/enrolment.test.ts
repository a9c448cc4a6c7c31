import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import {
  callRaw,
  getGrants,
  openRawAgent,
  type RawAccount,
  type RawAnswer,
  sayHello,
  toRawAgent,
} from '#test/support/agents/raw-agent.ts';

const stack = new AsyncDisposableStack();
let signer: TokenSigner;
let world: World;

beforeAll(async () => {
  signer = await createTokenSigner();
  const healthy = toAgentAccount('healthy', signer) as { readonly agent: object };
  const accounts = [
    ...['bound', 'bound-too', 'raced', 'revoked', 'revoked-too', 'wrong', 'kept'],
    { ...healthy, agent: { ...healthy.agent, minReplicas: 2 } },
    { name: 'direct', kubeconfigContents: '{}' },
  ];
  world = stack.use(await startWorld(accounts, { signer }));
});
afterAll(() => stack.disposeAsync());

async function open(...accounts: readonly (string | RawAccount)[]): Promise<RawAnswer> {
  return sayHello(world.system.url, await signer.sign(), { agentId: 'test', accounts });
}

/** Asks for work in the session that was opened. @returns the status */
async function ask(opened: RawAnswer): Promise<number> {
  return (await toRawAgent(world.system.url, opened).look()).status;
}

async function renew(opened: RawAnswer): Promise<number> {
  return (await toRawAgent(world.system.url, opened).renew()).status;
}

const change = (account: string, body: object): Promise<RawAnswer> =>
  world.call('PUT', `/credentials/${account}/agents`, body);
const look = (account: string): Promise<RawAnswer> => world.call('GET', `/credentials/${account}/agents`);

test('an account is for the cluster of its first agent, until it is enrolled for another one', async () => {
  const at = (clusterUid: string | undefined) => open({ name: 'bound', clusterUid, kubeHost: 'https://k' });
  const mute = await open('bound');
  const first = await at('uid-1');
  expect(getGrants(first)).toMatchObject([{ name: 'bound', operations: true }]);
  expect((await look('bound')).body).toMatchObject({
    ...{ state: 'enrolled', generation: 0, connected: 2 },
    cluster: { uid: 'uid-1', host: 'https://k' },
    history: [{ event: 'bound', clusterUid: 'uid-1' }],
  });

  const stranger = await at('uid-2');
  expect(stranger).toMatchObject({ status: 200, body: { session: '', token: '' } });
  const [refusal] = getGrants(stranger);
  expect(refusal).toMatchObject({ name: 'bound', operations: false, caching: false });
  expect(refusal?.refused).toBe(
    'account bound is enrolled for another cluster (uid uid-1): busdriver agent enroll bound --replace moves it to this one',
  );
  // Of several accounts the others are granted; who may not know its cluster is let in.
  const two = ['bound', 'bound-too'].map((name) => ({ name, clusterUid: 'uid-2' }));
  const both = await open(...two);
  expect(getGrants(both).map(({ name, operations }) => [name, operations])).toEqual([
    ['bound', false],
    ['bound-too', true],
  ]);
  expect([await ask(mute), await ask(first), await ask(both)]).toEqual([200, 200, 200]);

  const moved = await change('bound', { state: 'enrolled', replace: true });
  expect(moved).toMatchObject({ status: 200, body: { state: 'enrolled', generation: 1, connected: 0 } });
  expect(moved.body).not.toHaveProperty('cluster');
  expect([await ask(mute), await ask(first), await renew(first)]).toEqual([401, 401, 401]);
  expect(await ask(both)).toBe(200);
  expect(getGrants(await at('uid-2'))).toMatchObject([{ operations: true }]);
  expect(getGrants(await at('uid-1'))[0]?.refused).toContain('(uid uid-2)');
});

test('of agents in many clusters that come at the same time those of one are let in', async () => {
  const uids = Array.from({ length: 8 }, (_, index) => `uid-${index}`);
  const answers = await Promise.all(uids.map((clusterUid) => open({ name: 'raced', clusterUid })));
  const granted = uids.filter((_, index) => getGrants(answers[index] as RawAnswer)[0]?.operations);

  expect(granted).toHaveLength(1);
  expect((await look('raced')).body).toMatchObject({ cluster: { uid: granted[0] } });
});

test('agents that are revoked are thrown out at once, and let in when they are enrolled again', async () => {
  const [alone, shared, apart] = await Promise.all([
    open('revoked'),
    open('revoked', 'revoked-too'),
    open('revoked-too'),
  ]);
  // Who opens sessions meanwhile has none afterwards.
  const racing = Array.from({ length: 10 }, () => open('revoked'));
  const revoked = await callRaw(world.system.url, {
    ...{ method: 'PUT', target: '/credentials/revoked/agents', body: { state: 'revoked' } },
    user: 'ann@example.com',
  });
  expect(revoked).toMatchObject({ status: 200, body: { state: 'revoked' } });
  const late = await Promise.all(racing);

  expect([await ask(alone), await renew(alone), await ask(shared)]).toEqual([401, 401, 401]);
  expect(await ask(apart)).toBe(200);
  const alive = late.filter(({ status, body }) => status === 200 && body['session'] !== '');
  expect(await Promise.all(alive.map(ask))).toEqual(alive.map(() => 401));
  expect(getGrants(await open('revoked'))[0]?.refused).toBe(
    'the agents of account revoked are revoked: busdriver agent enroll revoked lets them in again',
  );
  const again = getGrants(await open('revoked', 'revoked-too'));
  expect(again.map(({ operations }) => operations)).toEqual([false, true]);
  const health = await world.call('GET', '/credentials/revoked/health');
  expect(health.body).toMatchObject({ state: 'DISCONNECTED', reason: 'its agents are revoked' });

  await change('revoked', { state: 'enrolled' });
  expect(await ask(await open('revoked'))).toBe(200);
  expect((await look('revoked')).body['history']).toMatchObject([
    { event: 'enrolled' },
    { event: 'revoked', user: 'ann@example.com' },
  ]);
});

test('what is wrong with a change of agents is told, and nothing changes', async () => {
  for (const [body, error] of [
    [{ state: 'gone' }, 'state: expected enrolled or revoked'],
    [{}, 'state: expected enrolled or revoked'],
    [{ state: 'enrolled', replace: 'yes' }, 'replace: expected true or false'],
    [{ state: 'revoked', replace: true }, 'replace: expected nothing beside state revoked'],
  ] as const) {
    expect(await change('wrong', body)).toMatchObject({ status: 400, body: { errors: [error] } });
  }
  expect((await change('no-such', { state: 'revoked' })).status).toBe(404);
  expect((await look('wrong')).body).toMatchObject({ state: 'enrolled', history: [] });
  expect((await open({ name: 'wrong', clusterUid: 'x'.repeat(501) })).status).toBe(400);
  const all = (await world.call('GET', '/agents')).body as unknown as readonly { account: string }[];
  expect(all.filter(({ account }) => ['wrong', 'direct'].includes(account))).toMatchObject([
    { account: 'wrong', connected: 0, minReplicas: 1 },
  ]);
});

test('the health of an account follows the replicas of its agent that are connected', async () => {
  const health = async () => (await world.call('GET', '/credentials/healthy/health')).body;
  expect(await health()).toMatchObject({
    state: 'DISCONNECTED',
    reason: 'no agent of it is connected; none was seen in the last day',
  });
  const one = await open('healthy');
  expect(await health()).toMatchObject({
    state: 'DEGRADED',
    reason: '1 of 2 replicas of its agent are connected',
  });
  await open('healthy');
  expect(await health()).toEqual({
    ...{ account: 'healthy', state: 'UP', checkedAt: expect.any(Number), lastSuccess: expect.any(Number) },
    ...{ breaker: 'closed', details: { cloudProvider: 'kubernetes', connectedAgents: 2 } },
  });
  const { body } = await world.call('GET', '/credentials/healthy');
  expect(body).toMatchObject({ health: { state: 'UP' } });
  await toRawAgent(world.system.url, one).close();
  expect(await health()).toMatchObject({ state: 'DEGRADED' });
});

test('an agent whose subject an account names no more is let in to its other accounts alone', async () => {
  const later = await createTokenSigner('system:serviceaccount:later:agent');
  const define = async (method: string, target: string, by: TokenSigner): Promise<void> => {
    const definition = { type: 'kubernetes', ...toAgentAccount('moved', by) };
    expect((await world.call(method, target, definition)).status).toBe(200);
  };
  await define('POST', '/credentials', signer);
  const agent = await world.open(['kept', 'moved']);
  const [kept, moved] = [await world.post('kept', 'default', 'x'), await world.post('moved', 'default', 'x')];
  const keptWork = { kind: 'TASK', account: 'kept', id: kept };
  const movedWork = { kind: 'TASK', account: 'moved', id: moved };
  expect(await agent.listWork()).toEqual(expect.arrayContaining([keptWork, movedWork]));

  await define('PUT', '/credentials/moved', later);
  const taken = await agent.take(moved);
  expect([taken.status, taken.body['message']]).toEqual([401, 'The session is over: open another one']);
  const again = await world.open(['kept', 'moved']);
  expect(await again.listWork()).toEqual([keptWork]);
  expect((await again.take(moved)).status).toBe(403);
  expect(getGrants({ body: again.welcome })).toMatchObject([
    { name: 'kept', operations: true },
    { name: 'moved', operations: false, caching: false, refused: expect.stringContaining('moved') },
  ]);
  await expect(world.open(['moved'])).rejects.toThrow('proves the agent of none');

  const next = await openRawAgent(world.system.url, later, {
    agentId: 'later',
    accounts: ['kept', 'moved'],
  });
  expect(await next.listWork()).toEqual([movedWork]);
  expect((await next.take(moved)).status).toBe(200);
  expect((await again.take(kept)).status).toBe(200);
});
