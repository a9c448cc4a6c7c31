import { calculateJwkThumbprint } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentSession, SessionAccount } from '#agents/agent-session.ts';
import { toIdentity } from '#agents/identity/agent-identity.ts';
import { type AgentHub, openAgentHub } from '#agents/services/agent-hub.ts';
import { openConnections } from '#agents/sessions/connections.ts';
import { handler as connect } from '#functions/agents/connect-agent.ts';
import { handler as disconnect } from '#functions/agents/disconnect-agent.ts';
import type { Services } from '#platform/services/services.ts';
import { type AgentFunctions, openAgentFunctions } from '#test/support/agents/agent-functions.ts';
import { createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';

let functions: AgentFunctions;
let services: Services;
let hub: AgentHub;
/** What a session remembers of an account that its agent proved. */
let edge: SessionAccount;

beforeAll(async () => {
  const signer = await createTokenSigner();
  functions = await openAgentFunctions(['edge', 'other'].map((name) => toAgentAccount(name, signer)));
  services = functions.services;
  hub = await openAgentHub(services);
  const [key] = signer.jwks.keys;
  if (key === undefined) throw new Error('no key');
  const identity = toIdentity(signer);
  edge = { name: 'edge', identity, key: await calculateJwkThumbprint(key), generation: 0 };
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

/** Opens a session of two accounts, one of which is not there any more; what is given wins over that. */
async function openSession(id: string, given: Partial<AgentSession> = {}): Promise<void> {
  const nowMs = hub.clock.now();
  await hub.sessions.open({
    ...{ id, agentId: 'pod-1', version: '1', protocol: 1, journalFormat: 1 },
    ...{ zone: 'eu', isClosed: false, warnings: [] },
    accounts: [edge, { ...edge, name: 'gone' }],
    audience: 'busdriver:local',
    ...{ openedAtMs: nowMs, seenAtMs: nowMs },
    ...given,
  });
}

it('writes down a connection for the accounts that are still the agent’s, and forgets it', async () => {
  await openSession('session-1');
  const begun = toEvent('session-1', 'L0SM9cOFvHcCIhw=');
  expect(await connect.withServices(services)(begun)).toMatchObject({ statusCode: 200 });
  const connections = openConnections(services);
  expect(await connections.list('edge')).toMatchObject([
    { id: 'L0SM9cOFvHcCIhw=', session: 'session-1', agentId: 'pod-1', zone: 'eu', transport: 'websocket' },
  ]);
  expect(await connections.list('gone')).toEqual([]);

  const ended = toEvent('session-1', 'L0SM9cOFvHcCIhw=', 'DISCONNECT');
  expect(await disconnect.withServices(services)(ended)).toMatchObject({ statusCode: 200 });
  expect(await connections.list('edge')).toEqual([]);
});

it('refuses a session that is over, or unknown', async () => {
  await openSession('session-2');
  await hub.sessions.close('session-2');
  const { key: _, ...keyless } = edge;
  const other = { ...edge, name: 'other' };
  const proofs: readonly (readonly [string, Partial<AgentSession>])[] = [
    ['another-subject', { accounts: [edge, { ...other, identity: '["https://before","a"]' }] }],
    ['another-key', { accounts: [edge, { ...other, key: edge.key?.toLowerCase() }] }],
    ['another-audience', { audience: 'busdriver:prod' }],
    ['release-before', { accounts: [keyless], audience: undefined }],
    ['no-key', { accounts: [keyless] }],
  ];
  for (const [id, given] of proofs) await openSession(id, given);
  for (const session of ['session-2', 'nobody', '', ...proofs.map(([id]) => id)]) {
    expect(await connect.withServices(services)(toEvent(session, 'two'))).toMatchObject({ statusCode: 401 });
  }
  expect(await openConnections(services).list('edge')).toEqual([]);
  const unknown = toEvent('nobody', 'two');
  expect(await disconnect.withServices(services)(unknown)).toMatchObject({ statusCode: 200 });
});
