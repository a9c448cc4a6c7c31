import { expect, test } from 'vitest';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, type World } from '../../support/agents/agent-world.ts';
import { callRaw, type RawAnswer } from '../../support/agents/raw-agent.ts';

const testMs = 240_000;

/** What a session was opened with, and for. */
interface Opening {
  readonly signer: TokenSigner;
  readonly accounts: readonly {
    readonly name: string;
    readonly clusterUid?: string;
    readonly kubeHost?: string;
  }[];
}

interface Grant {
  readonly name: string;
  readonly operations: boolean;
  readonly refused?: string;
}

async function open({ system }: World, { signer, accounts }: Opening): Promise<RawAnswer> {
  const body = { agentId: 'test', version: '1', protocol: 1, journalFormat: 1, accounts };
  const token = await signer.sign();
  return callRaw(system.url, { method: 'POST', target: '/agent/v1/sessions', token, body });
}

function getGrants({ body }: RawAnswer): readonly Grant[] {
  return body['accounts'] as readonly Grant[];
}

/** Asks for work in the session that was opened. @returns the status */
async function ask({ system }: World, { body }: RawAnswer): Promise<number> {
  const target = `/agent/v1/sessions/${body['session']}/work`;
  return (await callRaw(system.url, { method: 'GET', target, token: String(body['token']) })).status;
}

async function renew({ system }: World, { body }: RawAnswer): Promise<number> {
  const target = `/agent/v1/sessions/${body['session']}`;
  const call = { method: 'POST', target, token: String(body['token']), body: { journalFormat: 1 } };
  return (await callRaw(system.url, call)).status;
}

function change({ system }: World, account: string, body: object): Promise<RawAnswer> {
  return callRaw(system.url, { method: 'PUT', target: `/credentials/${account}/agents`, body });
}

function look({ system }: World, account: string): Promise<RawAnswer> {
  return callRaw(system.url, { method: 'GET', target: `/credentials/${account}/agents` });
}

test(
  'an account is for the cluster of its first agent, until it is enrolled for another one',
  async () => {
    const signer = await createTokenSigner();
    await using world = await startWorld([toAgentAccount('edge', signer), toAgentAccount('other', signer)]);
    const at = (clusterUid: string | undefined, name = 'edge') =>
      open(world, { signer, accounts: [{ name, ...(clusterUid && { clusterUid, kubeHost: 'https://k' }) }] });
    const mute = await at(undefined);
    const first = await at('uid-1');
    expect(getGrants(first)).toMatchObject([{ name: 'edge', operations: true }]);
    expect((await look(world, 'edge')).body).toMatchObject({
      ...{ state: 'enrolled', generation: 0, connected: 2 },
      cluster: { uid: 'uid-1', host: 'https://k' },
      history: [{ event: 'bound', clusterUid: 'uid-1' }],
    });

    const stranger = await at('uid-2');
    expect(stranger.status).toBe(200);
    expect([stranger.body['session'], stranger.body['token']]).toEqual(['', '']);
    const [refusal] = getGrants(stranger);
    expect(refusal).toMatchObject({ name: 'edge', operations: false, caching: false });
    expect(refusal?.refused).toBe(
      'account edge is enrolled for another cluster (uid uid-1): busdriver agent enroll edge --replace moves it to this one',
    );
    // Of several accounts the others are granted; who may not know its cluster is let in.
    const both = await open(world, {
      signer,
      accounts: [
        { name: 'edge', clusterUid: 'uid-2' },
        { name: 'other', clusterUid: 'uid-2' },
      ],
    });
    expect(getGrants(both).map(({ name, operations }) => [name, operations])).toEqual([
      ['edge', false],
      ['other', true],
    ]);
    expect([await ask(world, mute), await ask(world, first), await ask(world, both)]).toEqual([
      200, 200, 200,
    ]);

    const moved = await change(world, 'edge', { state: 'enrolled', replace: true });
    expect(moved.status).toBe(200);
    expect(moved.body).toMatchObject({ state: 'enrolled', generation: 1, connected: 0 });
    expect(moved.body).not.toHaveProperty('cluster');
    expect([await ask(world, mute), await ask(world, first), await renew(world, first)]).toEqual([
      401, 401, 401,
    ]);
    expect(await ask(world, both)).toBe(200);
    expect(getGrants(await at('uid-2'))).toMatchObject([{ operations: true }]);
    expect(getGrants(await at('uid-1'))[0]?.refused).toContain('(uid uid-2)');
  },
  testMs,
);

test(
  'of agents in many clusters that come at the same time those of one are let in',
  async () => {
    const signer = await createTokenSigner();
    await using world = await startWorld([toAgentAccount('edge', signer)]);
    const uids = Array.from({ length: 8 }, (_, index) => `uid-${index}`);
    const answers = await Promise.all(
      uids.map((clusterUid) => open(world, { signer, accounts: [{ name: 'edge', clusterUid }] })),
    );
    const granted = uids.filter((_, index) => getGrants(answers[index] as RawAnswer)[0]?.operations);

    expect(granted).toHaveLength(1);
    expect((await look(world, 'edge')).body).toMatchObject({ cluster: { uid: granted[0] } });
  },
  testMs,
);

test(
  'agents that are revoked are thrown out at once, and let in when they are enrolled again',
  async () => {
    const signer = await createTokenSigner();
    await using world = await startWorld([toAgentAccount('edge', signer), toAgentAccount('other', signer)]);
    const { system } = world;
    const edge = { signer, accounts: [{ name: 'edge' }] };
    const [alone, shared, apart] = await Promise.all([
      open(world, edge),
      open(world, { signer, accounts: [{ name: 'edge' }, { name: 'other' }] }),
      open(world, { signer, accounts: [{ name: 'other' }] }),
    ]);
    // Who opens sessions meanwhile has none afterwards.
    const racing: Promise<RawAnswer>[] = Array.from({ length: 10 }, () => open(world, edge));
    const revoked = await callRaw(system.url, {
      ...{ method: 'PUT', target: '/credentials/edge/agents', body: { state: 'revoked' } },
      user: 'ann@example.com',
    });
    expect([revoked.status, revoked.body['state']]).toEqual([200, 'revoked']);
    const late = await Promise.all(racing);

    expect([await ask(world, alone), await renew(world, alone), await ask(world, shared)]).toEqual([
      401, 401, 401,
    ]);
    expect(await ask(world, apart)).toBe(200);
    const alive = late.filter(({ status, body }) => status === 200 && body['session'] !== '');
    expect(await Promise.all(alive.map((each) => ask(world, each)))).toEqual(alive.map(() => 401));
    const [refusal] = getGrants(await open(world, edge));
    expect(refusal?.refused).toBe(
      'the agents of account edge are revoked: busdriver agent enroll edge lets them in again',
    );
    const again = await open(world, { signer, accounts: [{ name: 'edge' }, { name: 'other' }] });
    expect(getGrants(again).map(({ operations }) => operations)).toEqual([false, true]);
    const health = await callRaw(system.url, { method: 'GET', target: '/credentials/edge/health' });
    expect(health.body).toMatchObject({ state: 'DISCONNECTED', reason: 'its agents are revoked' });

    await change(world, 'edge', { state: 'enrolled' });
    expect(await ask(world, await open(world, edge))).toBe(200);
    expect((await look(world, 'edge')).body['history']).toMatchObject([
      { event: 'enrolled' },
      { event: 'revoked', user: 'ann@example.com' },
    ]);
  },
  testMs,
);

test(
  'what is wrong with a change of agents is told, and nothing changes',
  async () => {
    const signer = await createTokenSigner();
    const direct = { name: 'direct', kubeconfigContents: '{}' };
    await using world = await startWorld([toAgentAccount('edge', signer), direct]);
    const refused = async (body: object, account = 'edge') => {
      const answer = await change(world, account, body);
      return [answer.status, answer.body['errors'] ?? answer.body['message']];
    };

    expect(await refused({ state: 'gone' })).toEqual([400, ['state: expected enrolled or revoked']]);
    expect(await refused({})).toEqual([400, ['state: expected enrolled or revoked']]);
    expect(await refused({ state: 'enrolled', replace: 'yes' })).toEqual([
      400,
      ['replace: expected true or false'],
    ]);
    expect(await refused({ state: 'revoked', replace: true })).toEqual([
      400,
      ['replace: expected nothing beside state revoked'],
    ]);
    expect((await refused({ state: 'revoked' }, 'no-such'))[0]).toBe(404);
    expect((await look(world, 'edge')).body).toMatchObject({ state: 'enrolled', history: [] });
    expect(
      (await open(world, { signer, accounts: [{ name: 'edge', clusterUid: 'x'.repeat(501) }] })).status,
    ).toBe(400);
    const all = await callRaw(world.system.url, { method: 'GET', target: '/agents' });
    expect(all.body).toMatchObject([{ account: 'edge', connected: 0, minReplicas: 1 }]);
  },
  testMs,
);

test(
  'the health of an account follows the replicas of its agent that are connected',
  async () => {
    const signer = await createTokenSigner();
    const edge = toAgentAccount('edge', signer) as { readonly agent: object };
    await using world = await startWorld([{ ...edge, agent: { ...edge.agent, minReplicas: 2 } }]);
    const { system } = world;
    const look = async (target: string) => (await callRaw(system.url, { method: 'GET', target })).body;
    const health = () => look('/credentials/edge/health');
    expect(await health()).toMatchObject({
      state: 'DISCONNECTED',
      reason: 'no agent of it is connected; none was seen in the last day',
    });
    const one = await open(world, { signer, accounts: [{ name: 'edge' }] });
    expect(await health()).toMatchObject({
      state: 'DEGRADED',
      reason: '1 of 2 replicas of its agent are connected',
    });
    await open(world, { signer, accounts: [{ name: 'edge' }] });
    expect(await health()).toEqual({
      ...{ account: 'edge', state: 'UP', checkedAt: expect.any(Number), lastSuccess: expect.any(Number) },
      ...{ breaker: 'closed', details: { cloudProvider: 'kubernetes', connectedAgents: 2 } },
    });
    expect(await look('/credentials/edge')).toMatchObject({ health: { state: 'UP' } });
    const target = `/agent/v1/sessions/${one.body['session']}`;
    await callRaw(system.url, { method: 'DELETE', target, token: String(one.body['token']) });
    expect(await health()).toMatchObject({ state: 'DEGRADED' });
  },
  testMs,
);
