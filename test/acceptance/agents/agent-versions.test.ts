import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { ItemTable, ItemUpdate } from '../../../shared/aws/table.ts';
import { getHeaderKey } from '../../../shared/aws/tasks/task-items.ts';
import { createTokenSigner, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { callRaw, openRawAgent } from '../../support/agents/raw-agent.ts';

test('outdated agents get no operations, and refusals of leases say why', async () => {
  const signer = await createTokenSigner();
  await using world = await startWorld([toAgentAccount('edge', signer)], [], { minimumVersion: '2.0.0' });
  const { system } = world;
  const open = (agentId: string, version: string) =>
    openRawAgent(system.url, signer, { agentId, version, accounts: ['edge'] });
  const old = await open('old', '1.9.9');
  const young = await open('young', '2.0.0');
  const other = await open('other', '10.0');
  const id = await system.postOperations([toDeploy('edge', 'default', ['x'])]);
  const listWork = async (agent: typeof old) =>
    (await agent.call('GET', `/agent/v1/sessions/${agent.session}/work`)).body['work'];

  expect(old.welcome['accounts']).toMatchObject([{ name: 'edge', operations: false }]);
  expect(young.welcome['accounts']).toMatchObject([{ name: 'edge', operations: true }]);
  expect([await listWork(old), await listWork(young)]).toEqual([[], [{ kind: 'TASK', account: 'edge', id }]]);
  const refused = await old.take(id);
  expect([refused.status, refused.body['message']]).toEqual([
    403,
    'Version 1.9.9 of the agent is older than busdriver.agents.minimumVersion: install 2.0.0 or newer',
  ]);
  const agents = await callRaw(system.url, { method: 'GET', target: '/armory/agents' });
  const shown = agents.body as unknown as readonly { agentId: string; outdated: boolean }[];
  expect(shown.map(({ agentId, outdated }) => [agentId, outdated])).toEqual([
    ['old', true],
    ['other', false],
    ['young', false],
  ]);

  const { lease } = (await young.take(id)).body;
  expect((await other.take(id)).body).toMatchObject({ status: 409, reason: 'held' });
  const stale = { lease: { ...(lease as object), fence: 0 }, next: 'hold', entries: [] };
  expect((await other.commit(id, stale)).body).toMatchObject({ status: 409, reason: 'held' });
  expect((await young.commit(id, { lease, next: 'COMPLETED', entries: [] })).status).toBe(200);
  expect((await other.take(id)).body).toMatchObject({ status: 409, reason: 'finished' });
  expect((await young.call('PUT', `/agent/v1/tasks/${id}/lease`, lease as object)).body).toMatchObject({
    status: 409,
    reason: 'finished',
  });
}, 240_000);

test('a task begun with another journal format is for agents that have it, and for no others', async () => {
  const signer = await createTokenSigner();
  await using world = await startWorld([toAgentAccount('edge', signer)]);
  const { system } = world;
  const open = (agentId: string, journalFormat: number) =>
    openRawAgent(system.url, signer, { agentId, journalFormat, accounts: ['edge'] });
  const own = await open('own', 1);
  const later = await open('later', 2);
  const id = await system.postOperations([toDeploy('edge', 'default', ['x'])]);
  const listWork = async (agent: typeof own) =>
    (await agent.call('GET', `/agent/v1/sessions/${agent.session}/work`)).body['work'];
  // As a release with that format leaves it.
  const { dynamodb, credentials, tasksTable } = system.stores;
  const client = new DynamoDBClient({ endpoint: dynamodb, region: 'us-east-1', credentials });
  const table = new ItemTable(client, tasksTable);
  await table.update(getHeaderKey(id), new ItemUpdate().set('journalFormat', 2));
  client.destroy();

  expect([await listWork(own), await listWork(later)]).toEqual([[], [{ kind: 'TASK', account: 'edge', id }]]);
  expect((await own.take(id)).body).toMatchObject({
    status: 409,
    reason: 'journal-format',
    message:
      'The journal of the task has another format than the agent has: it is 2, the agent has 1: ' +
      'install an agent whose journal format is 2',
  });
  const { lease } = (await later.take(id)).body;
  expect((await later.commit(id, { lease, next: 'COMPLETED', entries: [] })).status).toBe(200);
}, 240_000);
