import { afterAll, beforeAll, expect, it } from 'vitest';
import { handler as connect } from '../../../../functions/agents/connect-agent.ts';
import { handler as disconnect } from '../../../../functions/agents/disconnect-agent.ts';
import { toIdentity } from '../../../../shared/runtime/identity/agent-identity.ts';
import { type AgentHub, openAgentHub } from '../../../../shared/runtime/services/agent-hub.ts';
import { openConnections } from '../../../../shared/runtime/services/connections.ts';
import type { Services } from '../../../../shared/runtime/services/services.ts';
import { type AgentFunctions, openAgentFunctions } from '../../../support/agents/agent-functions.ts';
import { createTokenSigner, toAgentAccount } from '../../../support/agents/agent-process.ts';

let functions: AgentFunctions;
let services: Services;
let hub: AgentHub;

beforeAll(async () => {
  const signer = await createTokenSigner();
  functions = await openAgentFunctions(['edge', 'other'].map((name) => toAgentAccount(name, signer)));
  services = functions.services;
  hub = await openAgentHub(services);
});
afterAll(() => functions[Symbol.asyncDispose]());

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
  const auth = hub.providers.findAccount('edge')?.agentHome?.auth;
  const nowMs = hub.clock.now();
  await hub.sessions.open({
    ...{ id, agentId: 'pod-1', version: '1', protocol: 1, journalFormat: 1 },
    ...{ zone: 'eu', isClosed: false, warnings: [] },
    accounts: [
      { name: 'edge', identity: auth?.type === 'serviceAccount' ? toIdentity(auth) : '', generation: 0 },
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
