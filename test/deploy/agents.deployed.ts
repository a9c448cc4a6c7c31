import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { fetch as send, WebSocket } from 'undici';
import { expect, it } from 'vitest';
import { localAccountId } from '#infra/server/functions/local-aws.ts';
import {
  type AgentProcess,
  createTokenSigner,
  startAgent,
  type TokenSigner,
  toAgentAccount,
} from '#test/support/agents/agent-process.ts';
import { createNamespace, describeWithCluster, findObject } from '#test/support/cluster/cluster.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';
import type { Subject } from '#test/support/system/system.ts';
import { callRest } from './aws-calls.ts';

/** Each function that is called for the first time starts. */
const timeout = 60_000;

describeWithCluster('agents of the deployed stacks', (cluster) => {
  it('open sessions, connect, are told of work, deploy and read, and go on after another', async () => {
    await using namespace = await createNamespace('agents');
    const signer = await createTokenSigner();
    await using dir = await makeTempDir();
    const config = join(dir.path, 'clouddriver.yml');
    const agents = { enabled: true, limits: { pollIdleMs: 500, pollBusyMs: 250 } };
    const busdriver = { agents, accounts: { writableWithoutFiat: true } };
    const byRole = { name: 'roled', agent: { auth: { type: 'iam', roleArns: [roleArn] } } };
    const accounts = [toAgentAccount('edge', signer), byRole];
    const account = { storage: { enabled: true } };
    await writeFile(config, JSON.stringify({ account, busdriver, kubernetes: { accounts } }));
    await using system = await configureDeployedSystem(getDeployment(), { config: [config] });
    const url = await findApiUrl('agents');

    // A token that is meant for another installation, and one of nobody.
    expect((await open(url, await signer.sign())).status).toBe(401);
    expect((await open(url, 'none')).status).toBe(401);
    await store(system, 'POST', '/credentials', {
      type: 'kubernetes',
      ...toAgentAccount('edge-stored', signer),
    });
    const { token, session } = await readSession(url, signer, ['edge', 'edge-stored']);
    const hintUrl = `${await findApiUrl('agents-hints')}/live`;
    expect(await tryConnect(hintUrl, `${token}x`)).toBe('refused');
    await using listener = await connect(hintUrl, token);
    listener.socket.send(JSON.stringify({ v: 1, t: 'ping', n: 1 }));
    const isTold = (frame: object) =>
      expect.poll(() => listener.frames, { timeout }).toContainEqual(expect.objectContaining(frame));
    await isTold({ v: 1, t: 'pong' });

    const id = await system.postOperations([toDeploy('edge', namespace.name, ['first'])]);
    await isTold({ t: 'work', k: 'task', a: 'edge', id });
    expect((await ask(url, { method: 'GET', path: `/${session}/work`, token })).body).toMatchObject({
      work: [{ kind: 'TASK', account: 'edge', id }],
    });
    await checkTold(system, listener.frames, signer);
    // Its session over, for an account of it was deleted, it may neither ask nor connect, and is told so.
    await isTold({ t: 'work', k: 'close', id: session });
    expect((await ask(url, { method: 'GET', path: `/${session}/work`, token })).status).toBe(401);
    expect(await tryConnect(hintUrl, token)).toBe('refused');
    await checkRoles(url);
    const own = await readSession(url, signer, ['edge']);
    const callOwn = async (method: string, path: string) =>
      (await ask(url, { method, path: `/${own.session}${path}`, token: own.token })).status;
    expect([await callOwn('DELETE', ''), await callOwn('GET', '/work')]).toEqual([204, 401]);

    const options = async () => ({
      url,
      token: await signer.sign({ audience }),
      accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
    });
    {
      await using _ = await startAgent(await options());
      const task = await system.waitForTask(id, { timeoutMs: 2 * timeout });
      expect(task.status.failed).toBe(false);
      expect(await readManifest(system, namespace.name, 'first')).toMatchObject({ data: { by: 'edge' } });
    }
    await using agent = await startAgent(await options());
    const later = await system.postOperations([toDeploy('edge', namespace.name, ['later'])]);
    expect((await system.waitForTask(later, { timeoutMs: 2 * timeout })).status.failed).toBe(false);
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/later`;
    expect(await findObject(path)).toMatchObject({ data: { by: 'edge' } });
    await checkOperatorRoutes(system, { agent, id: later });
    await checkRevocation(system, url, signer);
    expect(await system.readLog()).not.toContain(token);
  }, 600_000);
});

/** Of tokens for the tested installation, whose stage is `test`. */
const audience = 'busdriver:test';

/** Where an HTTP or a WebSocket API is. */
async function findApiUrl(apiName: string): Promise<string> {
  const { endpoint, name } = getDeployment();
  const answer = await callRest(endpoint, { service: 'apigateway', method: 'GET', path: '/v2/apis' });
  const { items = [] } = answer as { items?: { readonly name: string; readonly apiEndpoint: string }[] };
  const api = items.find((each) => each.name === `${name}-${apiName}`);
  if (api === undefined) throw new Error(`there is no API ${apiName}`);
  return api.apiEndpoint;
}

interface Call {
  readonly method: string;
  /** Below `/agent/v1/sessions`. */
  readonly path: string;
  readonly token: string;
  readonly body?: object;
}

async function ask(url: string, { method, path, token, body }: Call) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await send(`${url}/agent/v1/sessions${path}`, { method, headers, ...text });
  const answered = await answer.text();
  return { status: answer.status, body: answered === '' ? undefined : (JSON.parse(answered) as unknown) };
}

function open(url: string, token: string, names: readonly string[] = ['edge']) {
  return ask(url, { method: 'POST', path: '', token, body: toHello(names) });
}

function toHello(names: readonly string[]) {
  const accounts = names.map((name) => ({ name }));
  return { agentId: 'probe', version: '1', protocol: 1, journalFormat: 1, accounts };
}

/** The session of an agent that proves itself, as soon as all accounts are granted: of those that were just stored functions hear soon. */
async function readSession(
  url: string,
  signer: TokenSigner,
  names: readonly string[],
): Promise<OpenedSession> {
  let opened: Partial<OpenedSession> = {};
  const isGranted = async () => {
    const { body } = await open(url, await signer.sign({ audience }), names);
    opened = Object(body);
    return opened.accounts?.every(({ operations }) => operations);
  };
  await expect.poll(isGranted, { timeout }).toBe(true);
  return opened as OpenedSession;
}

interface OpenedSession {
  readonly token: string;
  readonly session: string;
  readonly accounts: readonly { readonly name: string; readonly operations: boolean }[];
}

/** Changes an account of the store. */
async function store(system: Subject, ...[method, target, body]: [string, string, object?]) {
  const headers = { 'content-type': 'application/json' };
  const answer = await system.fetch(target, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  expect(answer.status, await answer.text()).toBe(200);
}

/** Agents hear of it when their account is changed; then it is deleted. */
async function checkTold(system: Subject, frames: readonly unknown[], signer: TokenSigner): Promise<void> {
  const countTold = () =>
    frames.map((frame) => Object(frame)).filter(({ k, a }) => k === 'accounts' && a === 'edge-stored').length;
  const changed = { type: 'kubernetes', ...toAgentAccount('edge-stored', signer, 60) };
  // Of its creation an agent may have heard that was quick to connect.
  const before = countTold();
  await store(system, 'PUT', '/credentials/edge-stored', changed);
  await expect.poll(countTold, { timeout }).toBeGreaterThan(before);
  await store(system, 'DELETE', '/credentials/edge-stored');
}

/** Role of the agents of the account `roled`, of which the emulator asks no policy. */
const roleArn = `arn:aws:iam::${localAccountId}:role/roled-agent`;

/**
 * What the emulator's gateway does with requests that are signed for IAM. It verifies no signature, and lets in keys that it does not know,
 * which AWS refuses: what is seen here is who it says calls, and what the function makes of that. Signatures are looked at by
 * test/acceptance/agents/identity.test.ts.
 */
async function checkRoles(url: string): Promise<void> {
  const { endpoint } = getDeployment();
  const sts = new STSClient({ ...localClientOptions, endpoint });
  const role = { RoleArn: roleArn, RoleSessionName: 'agent' };
  const { Credentials: credentials } = await sts.send(new AssumeRoleCommand(role));
  sts.destroy();
  const openBy = async (key?: string) => {
    const scope = `${localClientOptions.region}/execute-api/aws4_request`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${key}/20260101/${scope}, SignedHeaders=host, Signature=0`;
    const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization }) };
    const body = JSON.stringify(toHello(['roled']));
    const answer = await send(`${url}/agent/v1/iam-sessions`, { method: 'POST', headers, body });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  expect(await openBy()).toEqual({ status: 403, body: { message: 'Forbidden' } });
  const [unknown, root, known] = await Promise.all([
    openBy('ASIANOBODYKNOWSTHISX'),
    openBy('test'),
    openBy(credentials?.AccessKeyId ?? ''),
  ]);
  expect(unknown).toMatchObject({
    status: 401,
    body: { message: expect.stringMatching(/^Nobody has checked a signature of IAM/) },
  });
  expect(root).toMatchObject({ status: 401 });
  expect(known).toMatchObject({
    status: 200,
    body: { session: expect.stringMatching(/./), accounts: [{ name: 'roled', operations: true }] },
  });
}

/** Calls a route of operators, which the OpenAPI document does not have. */
async function callOperator(system: Subject, ...[method, target, body]: [string, string, object?]) {
  const headers = { 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(new URL(target, system.url), { method, headers, ...text });
  return { status: answer.status, body: (await answer.json()) as unknown };
}

/** Has operators look at everything, and an agent begin anew. @param done.id an operation that the agent has run */
async function checkOperatorRoutes(
  system: Subject,
  { agent, id }: { readonly agent: AgentProcess; readonly id: string },
): Promise<void> {
  const get = (target: string) => callOperator(system, 'GET', target);
  const [agents, operations, operation, installations, installation, ofAccount, all, pool] =
    await Promise.all([
      get('/armory/agents'),
      get('/armory/agent/operations'),
      get(`/armory/agent/operations/${id}`),
      get('/armory/clouddrivers'),
      get('/armory/clouddrivers/busdriver'),
      get('/credentials/edge/agents'),
      get('/agents'),
      get('/armory/clouddrivers/sql/pool/settings'),
    ]);
  const ran = { operationId: id, account: 'edge', finalOutcome: 'COMPLETED' };
  expect(operation).toMatchObject({ status: 200, body: ran });
  const { agentId } = Object(operation.body).opSentToAgent;
  const shown = { agentId, accounts: ['edge'], connected: true, clouddriverId: 'busdriver' };
  expect(agents).toMatchObject({
    status: 200,
    body: expect.arrayContaining([expect.objectContaining(shown)]),
  });
  expect(operations).toMatchObject({
    status: 200,
    body: expect.arrayContaining([expect.objectContaining(ran)]),
  });
  expect(installations).toMatchObject({ status: 200, body: [{ id: 'busdriver', ready: true }] });
  expect(installation).toMatchObject({ status: 200, body: { id: 'busdriver', ready: true } });
  expect(ofAccount).toMatchObject({ status: 200, body: { account: 'edge', state: 'enrolled' } });
  expect(all).toMatchObject({ status: 200, body: [{ account: 'edge' }, { account: 'roled' }] });
  expect(pool.status).toBe(404);
  const told = await callOperator(system, 'POST', '/armory/agent/assignments', {});
  expect(told).toEqual({ status: 202, body: { accounts: 2 } });
  const before = countSessions(agent);
  expect(await get(`/armory/agents/${agentId}`)).toMatchObject({ status: 200, body: shown });
  const ended = await callOperator(system, 'POST', `/armory/agent/${agentId}/disconnect`, { origin: 'test' });
  expect(ended).toEqual({ status: 202, body: { agentId, sessions: 1 } });
  await expect.poll(() => countSessions(agent), { timeout }).toBe(before + 1);
}

function countSessions({ log }: AgentProcess): number {
  return log.split('"session with Busdriver"').length - 1;
}

/** Agents of a revoked account are let in again only when somebody says so. */
async function checkRevocation(system: Subject, url: string, signer: TokenSigner): Promise<void> {
  const change = (state: string) => callOperator(system, 'PUT', '/credentials/edge/agents', { state });
  expect(await change('revoked')).toMatchObject({ status: 200, body: { state: 'revoked' } });
  const token = await signer.sign({ audience });
  expect((await open(url, token)).body).toMatchObject({ session: '', accounts: [{ operations: false }] });
  expect(await change('enrolled')).toMatchObject({ status: 200, body: { state: 'enrolled' } });
  expect((await open(url, token)).body).toMatchObject({ accounts: [{ operations: true }] });
}

/** Connects, and keeps what is said. @throws Error where it is refused */
async function connect(hintUrl: string, token: string) {
  const socket = new WebSocket(hintUrl, { headers: { authorization: `Bearer ${token}` } });
  const frames: unknown[] = [];
  socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(String(data))));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('the connection was refused')));
  });
  return { socket, frames, [Symbol.asyncDispose]: async () => socket.close() };
}

async function tryConnect(hintUrl: string, token: string): Promise<string> {
  try {
    await using _ = await connect(hintUrl, token);
    return 'connected';
  } catch {
    return 'refused';
  }
}

async function readManifest(system: Subject, namespace: string, name: string): Promise<unknown> {
  const path = `/manifests/edge/${namespace}/${encodeURIComponent(`configMap ${name}`)}`;
  const answer = await system.fetch(path);
  const { manifest } = (await answer.json()) as { readonly manifest?: unknown };
  return manifest;
}
