import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { handler as connect } from '../../../../functions/agents/connect-agent.ts';
import { handler as disconnect } from '../../../../functions/agents/disconnect-agent.ts';
import { startDynamoDb } from '../../../../infra/local/dynamodb.ts';
import { tables } from '../../../../shared/aws/tables.ts';
import { toIdentity } from '../../../../shared/runtime/http/agent-handler.ts';
import { type AgentHub, openAgentHub } from '../../../../shared/runtime/services/agent-hub.ts';
import { openConnections } from '../../../../shared/runtime/services/connections.ts';
import { Services } from '../../../../shared/runtime/services/services.ts';
import { createTokenSigner, toAgentAccount } from '../../../support/agent-process.ts';
import { localClientOptions, openTestAccess } from '../../../support/local-aws-client.ts';
import { makeTempDir, type TempDir } from '../../../support/temp-dir.ts';

let dir: TempDir;
let engine: Awaited<ReturnType<typeof startDynamoDb>>;
let services: Services;
let hub: AgentHub;

beforeAll(async () => {
  dir = await makeTempDir();
  await mkdir(path.join(dir.path, 'tables'));
  engine = await startDynamoDb({ dir: path.join(dir.path, 'tables'), tables, access: openTestAccess() });
  const signer = await createTokenSigner();
  const accounts = ['edge', 'other'].map((name) => toAgentAccount(name, signer));
  const settings = { busdriver: { agents: { enabled: true } }, kubernetes: { accounts } };
  await writeFile(path.join(dir.path, 'clouddriver.yml'), JSON.stringify(settings));
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

beforeEach(async () => {
  const { accessKeyId, secretAccessKey } = localClientOptions.credentials;
  services = new Services({
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'http://127.0.0.1:1/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'http://127.0.0.1:1/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
    BUSDRIVER_PLACEMENT: 'local',
    BUSDRIVER_ENGINE_ACCESS_KEY_ID: accessKeyId,
    BUSDRIVER_ENGINE_SECRET_ACCESS_KEY: secretAccessKey,
    BUSDRIVER_AGENT_KEY_FILE: path.join(dir.path, 'key.jwk'),
    BUSDRIVER_CONFIG_FILES: JSON.stringify([path.join(dir.path, 'clouddriver.yml')]),
    AWS_ENDPOINT_URL_DYNAMODB: engine.url,
  });
  hub = await openAgentHub(services);
});
afterEach(() => services[Symbol.asyncDispose]());

/** An event of the documentation ("Set up an integration request for a WebSocket API"), after our authorizer. */
const toEvent = (session: string, connectionId: string, eventType = 'CONNECT') => ({
  headers: { Host: 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com', Authorization: 'Bearer x' },
  isBase64Encoded: false,
  requestContext: {
    routeKey: eventType === 'CONNECT' ? '$connect' : '$disconnect',
    authorizer: { principalId: 'agent', integrationLatency: 12, session },
    eventType,
    stage: 'live',
    connectedAt: 1_700_000_000_000,
    domainName: 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
    connectionId,
    apiId: 'a1b2c3d4e5',
  },
});

/** Opens a session of both accounts, one of which asks for another subject by now. */
async function openSession(id: string): Promise<void> {
  const home = hub.providers.findAccount('edge')?.agentHome;
  const nowMs = hub.clock.now();
  await hub.sessions.open({
    ...{ id, agentId: 'pod-1', version: '1', protocol: 1, journalFormat: 1 },
    ...{ zone: 'eu', isClosed: false, warnings: [] },
    accounts: [
      { name: 'edge', identity: home === undefined ? '' : toIdentity(home), generation: 0 },
      { name: 'other', identity: '["https://before","system:serviceaccount:a:b"]', generation: 0 },
    ],
    ...{ openedAtMs: nowMs, seenAtMs: nowMs },
  });
}

it('writes down a connection for the accounts that are still the agent’s, and forgets it', async () => {
  await openSession('session-1');
  expect(await connect.withServices(services)(toEvent('session-1', 'L0SM9cOFvHcCIhw='))).toMatchObject({
    statusCode: 200,
  });
  const connections = openConnections(services);
  expect(await connections.list('edge')).toMatchObject([
    { id: 'L0SM9cOFvHcCIhw=', session: 'session-1', agentId: 'pod-1', zone: 'eu', transport: 'websocket' },
  ]);
  expect(await connections.list('other')).toEqual([]);

  const ended = toEvent('session-1', 'L0SM9cOFvHcCIhw=', 'DISCONNECT');
  expect(await disconnect.withServices(services)(ended)).toMatchObject({ statusCode: 200 });
  expect(await connections.list('edge')).toEqual([]);
});

it('refuses a session that is over, or unknown', async () => {
  await openSession('session-2');
  await hub.sessions.close('session-2');
  for (const session of ['session-2', 'nobody', '']) {
    expect(await connect.withServices(services)(toEvent(session, 'two'))).toMatchObject({ statusCode: 401 });
  }
  expect(await openConnections(services).list('edge')).toEqual([]);
  expect(await disconnect.withServices(services)(toEvent('nobody', 'two'))).toMatchObject({
    statusCode: 200,
  });
});
