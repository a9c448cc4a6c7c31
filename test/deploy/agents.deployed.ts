import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetch as send, WebSocket } from 'undici';
import { expect, it } from 'vitest';
import { createTokenSigner, startAgent, type TokenSigner, toAgentAccount } from '../support/agent-process.ts';
import { toDeploy } from '../support/agent-world.ts';
import { createNamespace, describeWithCluster, findObject } from '../support/cluster.ts';
import { configureDeployedSystem, getDeployment } from '../support/deployed-system.ts';
import type { Subject } from '../support/system.ts';
import { makeTempDir } from '../support/temp-dir.ts';
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
    const accounts = [toAgentAccount('edge', signer)];
    await writeFile(config, JSON.stringify({ busdriver: { agents }, kubernetes: { accounts } }));
    await using system = await configureDeployedSystem(getDeployment(), { config: [config] });
    const url = await findApiUrl('agents');

    // A token that is meant for another installation, and one of nobody.
    expect((await open(url, await signer.sign())).status).toBe(401);
    expect((await open(url, 'none')).status).toBe(401);
    const { token, session } = await readSession(url, signer);
    const hintUrl = `${await findApiUrl('agents-hints')}/live`;
    expect(await tryConnect(hintUrl, `${token}x`)).toBe('refused');
    await using listener = await connect(hintUrl, token);
    listener.socket.send(JSON.stringify({ v: 1, t: 'ping', n: 1 }));
    await expect.poll(() => listener.frames, { timeout }).toMatchObject([{ v: 1, t: 'pong' }]);

    const id = await system.postOperations([toDeploy('edge', namespace.name, ['first'])]);
    await expect
      .poll(() => listener.frames.at(-1), { timeout })
      .toMatchObject({ t: 'work', k: 'task', a: 'edge', id });
    expect((await ask(url, { method: 'GET', path: `/${session}/work`, token })).body).toMatchObject({
      work: [{ kind: 'TASK', account: 'edge', id }],
    });
    // Its session over, it may neither ask nor connect, and is told so.
    expect((await ask(url, { method: 'DELETE', path: `/${session}`, token })).status).toBe(204);
    expect((await ask(url, { method: 'GET', path: `/${session}/work`, token })).status).toBe(401);
    await expect
      .poll(() => listener.frames.at(-1), { timeout })
      .toMatchObject({ t: 'work', k: 'close', id: session });
    expect(await tryConnect(hintUrl, token)).toBe('refused');

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
    await using _ = await startAgent(await options());
    const later = await system.postOperations([toDeploy('edge', namespace.name, ['later'])]);
    expect((await system.waitForTask(later, { timeoutMs: 2 * timeout })).status.failed).toBe(false);
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/later`;
    expect(await findObject(path)).toMatchObject({ data: { by: 'edge' } });
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

function open(url: string, token: string) {
  const body = {
    agentId: 'probe',
    version: '1',
    protocol: 1,
    journalFormat: 1,
    accounts: [{ name: 'edge' }],
  };
  return ask(url, { method: 'POST', path: '', token, body });
}

/** The session of an agent that proves itself. */
async function readSession(url: string, signer: TokenSigner) {
  const { status, body } = await open(url, await signer.sign({ audience }));
  expect({ status, body }).toMatchObject({ status: 200, body: { accounts: [{ name: 'edge' }] } });
  return body as { readonly token: string; readonly session: string; readonly hintUrl: string };
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
