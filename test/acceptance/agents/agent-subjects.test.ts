import { expect, test } from 'vitest';
import { createTokenSigner, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { callRaw, openRawAgent, type RawAgent } from '../../support/agents/raw-agent.ts';

const testMs = 180_000;

interface Grant {
  readonly name: string;
  readonly operations: boolean;
  readonly refused?: string;
}

async function listWork({ call, session }: RawAgent): Promise<readonly object[]> {
  const { status, body } = await call('GET', `/agent/v1/sessions/${session}/work`);
  expect(status).toBe(200);
  return body['work'] as readonly object[];
}

async function renew({ call, session }: RawAgent): Promise<readonly Grant[]> {
  const { status, body } = await call('POST', `/agent/v1/sessions/${session}`, { journalFormat: 1 });
  expect(status).toBe(200);
  return body['accounts'] as readonly Grant[];
}

test(
  'an agent whose subject an account names no more loses the account in the session that it has',
  async () => {
    const former = await createTokenSigner();
    const later = await createTokenSigner('system:serviceaccount:later:agent');
    await using world = await startWorld([toAgentAccount('kept', former)]);
    const { system } = world;
    const define = async (method: string, target: string, signer: typeof former): Promise<void> => {
      const body = { type: 'kubernetes', ...toAgentAccount('moved', signer) };
      expect(await callRaw(system.url, { method, target, body })).toMatchObject({ status: 200 });
    };
    await define('POST', '/credentials', former);
    const accounts = ['kept', 'moved'];
    const agent = await openRawAgent(system.url, former, { agentId: 'former', accounts });
    const [kept = '', moved = ''] = await Promise.all(
      accounts.map((account) => system.postOperations([toDeploy(account, 'default', ['x'])])),
    );
    const keptWork = { kind: 'TASK', account: 'kept', id: kept };
    const movedWork = { kind: 'TASK', account: 'moved', id: moved };
    expect(await listWork(agent)).toEqual(
      expect.arrayContaining([keptWork, movedWork].map((each) => expect.objectContaining(each))),
    );

    await define('PUT', '/credentials/moved', later);
    await expect
      .poll(async () => JSON.stringify(await listWork(agent)), { timeout: 60_000 })
      .not.toContain(moved);
    expect(await listWork(agent)).toEqual([expect.objectContaining(keptWork)]);
    const taken = await agent.take(moved);
    expect([taken.status, taken.body['message']]).toEqual([
      403,
      `Task ${moved} is of no account of this session`,
    ]);
    expect(await renew(agent)).toMatchObject([
      { name: 'kept', operations: true },
      { name: 'moved', operations: false, caching: false, refused: expect.stringContaining('moved') },
    ]);
    await expect(openRawAgent(system.url, former, { agentId: 'x', accounts: ['moved'] })).rejects.toThrow(
      'proves the agent of none',
    );

    const next = await openRawAgent(system.url, later, { agentId: 'later', accounts });
    expect(await listWork(next)).toEqual([expect.objectContaining(movedWork)]);
    expect((await next.take(moved)).status).toBe(200);
    expect((await agent.take(kept)).status).toBe(200);
  },
  testMs,
);
