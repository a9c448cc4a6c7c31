import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { toDefinitionEvent } from '#accounts/definition-event.ts';
import { tellAgentsOfChange } from '#accounts/events/changed-account.ts';
import { openAgentSessions } from '#agents/sessions/agent-sessions.ts';
import { openConnections } from '#agents/sessions/connections.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { Services } from '#platform/services/services.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

/** What API Gateway was told, each call after how long a pause was asked for. */
let calls: { readonly frame: unknown; readonly sleptMs: number }[];
let sleptMs: number;
let gateway: ReturnType<typeof createServer>;

beforeEach(async () => {
  calls = [];
  sleptMs = 0;
  gateway = createServer(async (request, response) => {
    calls.push({ frame: JSON.parse(await text(request)), sleptMs });
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => gateway.once('listening', resolve));
  const { accessKeyId, secretAccessKey } = localClientOptions.credentials;
  vi.stubEnv('AWS_REGION', localClientOptions.region);
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  gateway.closeAllConnections();
  await new Promise((resolve) => gateway.close(resolve));
});

/** Services of a deployed function, and a new account whose agent is connected. */
async function open({ hears = true } = {}) {
  const { tableName, openDocuments } = openTable(tasksTable);
  const { port } = gateway.address() as AddressInfo;
  const environment = {
    BUSDRIVER_TASKS_TABLE: tableName,
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
    ...(hears && { BUSDRIVER_HINTS_URL: `ws://127.0.0.1:${port}/live` }),
  };
  const all = new Services(environment, { dynamodb: openDocuments() });
  const account = testRandomness.id();
  const [session, nowMs] = [testRandomness.id(), Date.now()];
  const agent = { agentId: 'pod', zone: '', protocol: 1, journalFormat: 1 };
  await openAgentSessions(all).open({
    ...{ ...agent, id: session, version: '1', accounts: [], warnings: [] },
    ...{ openedAtMs: nowMs, seenAtMs: nowMs, isClosed: false },
  });
  const connection = {
    id: 'L0SM9cOFvHcCIhw',
    account,
    session,
    transport: 'websocket',
    connectedAtMs: nowMs,
  };
  expect(await openConnections(all).add({ ...agent, ...connection })).toBe(true);
  const clock = {
    sleep: async (ms: number) => {
      sleptMs += ms;
    },
  };
  return {
    account,
    tell: (type: string, detail: unknown) =>
      tellAgentsOfChange({ all, clock }, { 'detail-type': type, detail }, 2_000),
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

it.each(['created', 'updated', 'deleted'] as const)(
  'agents of an account that was %s are told once every function knows of it',
  async (change) => {
    await using world = await open();
    const { account: name } = world;
    const { type, detail } = toDefinitionEvent(
      { name, type: 'kubernetes', revision: 2, change, by: 'kim' },
      1,
    );
    await world.tell(type, detail);
    expect(calls).toEqual([{ frame: { v: 1, t: 'work', k: 'accounts', a: name, id: '' }, sleptMs: 2_000 }]);
  },
);

it('agents of other accounts hear nothing, and no turn of the schedule waits', async () => {
  await using world = await open();
  await world.tell('Scheduled Event', {});
  await world.tell('AccountChanged', { name: world.account });
  await world.tell('AccountDefinitionChanged', {});
  expect(sleptMs).toBe(0);
  await world.tell('AccountDefinitionChanged', { name: 'another' });
  expect(calls).toEqual([]);
});

it('where agents are not served nobody waits, or is told', async () => {
  await using world = await open({ hears: false });
  await world.tell('AccountDefinitionChanged', { name: world.account });
  expect({ calls, sleptMs }).toEqual({ calls: [], sleptMs: 0 });
});
