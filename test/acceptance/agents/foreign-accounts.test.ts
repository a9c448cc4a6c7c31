import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { callRaw, openRawAgent, type RawAgent } from '#test/support/agents/raw-agent.ts';
import { startFiat } from '#test/support/services/fiat.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const all = ['READ', 'WRITE'] as const;
const names = ['mine', 'shared', 'theirs'] as const;
const stack = new AsyncDisposableStack();
const agents = new Map<string, RawAgent>();
const tasks = new Map<string, string>();
let system: System;

beforeAll(async () => {
  const ada = { accounts: { mine: all, shared: ['READ'] as const }, accountManager: true };
  const fiat = stack.use(await startFiat({ users: { ada, root: { admin: true } } }));
  const signer = await createTokenSigner();
  const settings = {
    services: { fiat: { enabled: true, baseUrl: fiat.url } },
    busdriver: { agents: { enabled: true } },
    kubernetes: { accounts: names.map((name) => toAgentAccount(name, signer)), cache: { enabled: false } },
  };
  system = stack.use(await startSystem({ settings }));
  const served = {
    ...{ 'a-mine': ['mine'], 'b-both': ['mine', 'theirs'], 'c-theirs': ['theirs'], 'd-shared': ['shared'] },
  };
  for (const [agentId, accounts] of Object.entries(served)) {
    const agent = await openRawAgent(system.url, signer, { agentId, accounts });
    const warnings = [`of ${accounts.join(' and ')}`];
    await agent.call('POST', `/agent/v1/sessions/${agent.session}`, { journalFormat: 1, warnings });
    agents.set(agentId, agent);
  }
  for (const name of names) {
    const posted = await ask('root', 'POST', '/kubernetes/ops', [toDeploy(name, 'default', ['x'])]);
    tasks.set(name, String(posted.body['id']));
  }
});
afterAll(() => stack.disposeAsync());

function ask(user: string, ...[method, target, body]: [string, string, object?]) {
  return callRaw(system.url, { method, target, user, ...(body && { body }) });
}

async function list(user: string, target: string): Promise<readonly { readonly [name: string]: unknown }[]> {
  const { status, body } = await ask(user, 'GET', target);
  expect(status).toBe(200);
  return body as unknown as readonly { readonly [name: string]: unknown }[];
}

describe('a manager of accounts', () => {
  it('sees agents by the accounts that he may read, and of others not even that they are there', async () => {
    expect(await list('ada', '/armory/agents')).toMatchObject([
      { agentId: 'a-mine', accounts: ['mine'], lastWarnings: ['of mine'] },
      { agentId: 'b-both', accounts: ['mine'], lastWarnings: [] },
      { agentId: 'd-shared', accounts: ['shared'] },
    ]);
    expect((await ask('ada', 'GET', '/armory/agents/b-both')).body).toMatchObject({
      accounts: ['mine'],
      lastWarnings: [],
    });
    const hidden = await ask('ada', 'GET', '/armory/agents/c-theirs');
    expect([hidden.status, hidden.body['message']]).toEqual([404, "No agent 'c-theirs' has a session"]);
    expect(await list('root', '/armory/agents')).toMatchObject([
      { agentId: 'a-mine' },
      { agentId: 'b-both', accounts: ['mine', 'theirs'], lastWarnings: ['of mine and theirs'] },
      { agentId: 'c-theirs' },
      { agentId: 'd-shared' },
    ]);
    const own = await list('ada', '/agents');
    expect(own.map(({ account }) => account)).toEqual(['mine']);
    expect(JSON.stringify(own)).not.toContain('theirs');
  });

  it('sees operations of accounts that he may read', async () => {
    const target = '/armory/agent/operations';
    const toAccounts = (shown: readonly object[]) =>
      shown.map((each) => ('account' in each ? each.account : undefined)).sort();
    expect(toAccounts(await list('ada', target))).toEqual(['mine', 'shared']);
    expect(toAccounts(await list('root', target))).toEqual([...names]);
    const statuses = names.map(
      async (name) => (await ask('ada', 'GET', `${target}/${tasks.get(name)}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 403]);
  });

  it.each(['/armory/agent/assignments', '/armory/agent/operations/database'])(
    'has agents of these accounts alone told by %s',
    async (target) => {
      expect(await ask('ada', 'POST', target, {})).toMatchObject({ status: 202, body: { accounts: 2 } });
      expect(await ask('root', 'POST', target, {})).toMatchObject({ status: 202, body: { accounts: 3 } });
    },
  );

  it('disconnects agents that serve nothing but accounts that he may write to', async () => {
    const disconnect = async (agentId: string) => {
      const { status, body } = await ask('ada', 'POST', `/armory/agent/${agentId}/disconnect`, {});
      return [status, body['message']];
    };
    const denied = (name: string) => `Access denied to account ${name} - required authorization: WRITE`;
    expect(await disconnect('b-both')).toEqual([403, denied('theirs')]);
    expect(await disconnect('d-shared')).toEqual([403, denied('shared')]);
    expect(await disconnect('c-theirs')).toEqual([404, "No agent 'c-theirs' has a session"]);
    expect(await disconnect('a-mine')).toEqual([202, undefined]);
    const open = [...agents].map(async ([id, agent]) => [id, (await agent.look()).status] as const);
    expect(Object.fromEntries(await Promise.all(open))).toEqual({
      ...{ 'a-mine': 401, 'b-both': 200, 'c-theirs': 200, 'd-shared': 200 },
    });
  });
});
