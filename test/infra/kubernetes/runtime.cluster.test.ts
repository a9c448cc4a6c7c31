import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AgentConnection, Hint } from '#agents/agent-connections.ts';
import { onceAborted } from '#core/deadline.ts';
import { type OperationMessage, operationSchema } from '#infra/kubernetes/agent-messages.ts';
import { peerAudience } from '#infra/kubernetes/peers/peer-tokens.ts';
import { formatProtobufText } from '#infra/kubernetes/protobuf-text.ts';
import { type Host, startHost } from '#infra/kubernetes/runtime.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startHomeEngines } from './engines.ts';
import { createPod, deleteEndpoints, openToManagers, type TestPod, writeEndpoints } from './pod.ts';

/** Pods as the control plane names and addresses them. */
const podAddresses = {
  'spin-clouddriver-0': '10.99.0.1',
  'spin-clouddriver-1': '10.99.0.2',
  'spin-clouddriver-2': '10.99.0.3',
};
const podNames = Object.keys(podAddresses);

const operation: OperationMessage = {
  ...{ id: '01J9', account: 'edge-7', type: 'work', task_id: '01J9', kind: 'task' },
  ...{ accepted_ms: 1_645_648_899_339, deadline_ms: 0 },
};
const hint: Hint = { kind: 'TASK', account: 'edge-7', id: '01J9' };
const answer = { take: 1, parts: 1, failure: undefined };
const end = { id: 'read-1', account: 'edge-7', agentId: 'agent-6f', isRead: true, durationMs: 12 };

describeWithCluster('three replicas in a cluster', () => {
  const stack = new AsyncDisposableStack();
  const hosts: Host[] = [];
  let pod: TestPod;
  let peerToken: string;

  beforeAll(async () => {
    const engines = stack.use(await startHomeEngines());
    pod = stack.use(await createPod());
    await pod.letReviewTokens();
    peerToken = await pod.writeToken(peerAudience);
    await writeEndpoints(pod, 'spin-clouddriver', { ready: podAddresses });
    const config = join(engines.dir, 'clouddriver.yml');
    const settings = { kubernetes: { enabled: true, accounts: [] }, ...openToManagers };
    await writeFile(config, JSON.stringify(settings));
    // Loopback addresses may not stand in Endpoints: the test says where each pod really is.
    const urls = new Map<string, string>();
    for (const podName of podNames) {
      const host = stack.use(
        await startHost({
          ...{ host: '127.0.0.1', port: 0, allowedHosts: [], configFiles: [config], profiles: ['local'] },
          ...{ logLevel: 'SILENT', namePrefix: '', createsResources: false, shutdownTimeoutMs: 1_000 },
          podName,
          environment: { ...engines.environment, ...pod.environment },
          serviceAccountDirectory: pod.directory,
          peerTokenFile: peerToken,
          toPeerUrl: ({ id }) => urls.get(id) ?? 'http://127.0.0.1:1',
        }),
      );
      urls.set(podName, host.url);
      hosts.push(host);
    }
    for (const { peers } of hosts)
      await vi.waitFor(() => expect(peers.list()).toHaveLength(podNames.length), { timeout: 60_000 });
  });
  afterAll(() => stack.disposeAsync());

  const get = (index: number): Host => hosts[index] as Host;

  async function call(index: number, path: string, init: RequestInit = {}) {
    const response = await fetch(new URL(path, get(index).url), init);
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** A call as a peer makes it. @param file that of its token */
  async function send(path: string, body: unknown, file: string | null = peerToken) {
    const authorization = file === null ? {} : { authorization: `Bearer ${await readFile(file, 'utf8')}` };
    return call(0, path, { method: 'POST', headers: authorization, body: JSON.stringify(body) });
  }

  test('GET /armory/clouddrivers answers each of them alike, with baseUrl, id, lastUpdated and ready', async () => {
    for (const index of hosts.keys()) {
      const { status, body } = await call(index, '/armory/clouddrivers');
      expect(status).toBe(200);
      expect(body).toEqual(
        Object.entries(podAddresses).map(([id, ip]) => ({
          baseUrl: `http://${ip}:7002`,
          id,
          lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          ready: true,
        })),
      );
    }
  });

  test('each is ready, for it has no account that was not read yet', async () => {
    for (const index of hosts.keys())
      expect(await call(index, '/health/readiness')).toEqual({ status: 200, body: { status: 'UP' } });
  });

  test('GET /armory/clouddrivers/{id} answers one of them, and 404 for another name', async () => {
    expect(await call(1, '/armory/clouddrivers/spin-clouddriver-2')).toMatchObject({
      status: 200,
      body: { baseUrl: 'http://10.99.0.3:7002', id: 'spin-clouddriver-2' },
    });
    expect(await call(1, '/armory/clouddrivers/spin-clouddriver-3')).toMatchObject({
      status: 404,
      body: { error: 'Not Found', message: "No clouddriver is named 'spin-clouddriver-3'" },
    });
  });

  /** An agent of account edge-7 that is connected to a replica. */
  const connect = (index: number) => {
    const told: Hint[] = [];
    const connection = {
      ...{ id: 'connection-1', session: 'session-1', agentId: 'agent-6f', zone: '', transport: 'websocket' },
      accounts: new Set(['edge-7']),
      send: (each: Hint) => void told.push(each),
      close: () => undefined,
    };
    const held = get(index).agents.connections.add(connection);
    return { told, [Symbol.dispose]: () => held?.[Symbol.dispose]() };
  };
  const toRow = (holder: string, connectedAtMs = Date.now()): AgentConnection => ({
    ...{ id: 'connection-1', account: 'edge-7', session: 'session-1', agentId: 'agent-6f', zone: '' },
    ...{ transport: 'websocket', holder, connectedAtMs },
  });
  const post = (index: number, row: AgentConnection) => get(index).agents.forwarding.post(row, hint);

  test('an operation for an account that is connected to another one is forwarded to it by REST', async () => {
    const { told, ...connection } = connect(0);

    expect(await post(1, toRow('spin-clouddriver-0'))).toBe('delivered');
    expect(told).toEqual([hint]);
    // It told its own by itself.
    expect(await post(0, toRow('spin-clouddriver-0'))).toBe('delivered');
    expect(told).toHaveLength(1);
    connection[Symbol.dispose]();
    expect(await post(1, toRow('spin-clouddriver-0'))).toBe('gone');
    expect(await post(0, toRow('spin-clouddriver-0'))).toBe('gone');
  });

  test('a message for one that is gone, or cannot be reached, fails and ends nothing', async () => {
    expect(await post(1, toRow('spin-clouddriver-9'))).toBe('failed');
    expect(await post(1, toRow('spin-clouddriver-9', Date.now() - 3_600_000))).toBe('gone');
    await writeEndpoints(pod, 'spin-clouddriver-old', { ready: { 'spin-clouddriver-gone': '10.99.0.9' } });
    await expect.poll(() => get(1).peers.find('spin-clouddriver-gone')).toBeDefined();
    expect(await post(1, toRow('spin-clouddriver-gone', 0))).toBe('failed');
    await deleteEndpoints(pod, 'spin-clouddriver-old');
    await expect.poll(() => get(1).peers.find('spin-clouddriver-gone')).toBeUndefined();
  });

  /** A request that waits in a replica for a read: its pauses never end, so it looks when it is told alone. */
  const wait = (index: number, id: string) => {
    const stopping = new AbortController();
    const read = { id, account: 'edge-7', method: 'manifests.get', args: '{}', acceptedAtMs: 0 };
    const waiting = get(index).agents.awaited.wait(read, {
      reads: { find: async () => ({ ...read, takes: 1, takenUntilMs: 0, answer }) },
      clock: { monotonic: () => 0, sleep: (_, signal) => onceAborted(signal ?? stopping.signal) },
      signal: stopping.signal,
    });
    return { waiting, stop: () => stopping.abort('it is over') };
  };

  test('a result is told to the one that waits for it', async () => {
    const { forwarding } = get(0).agents;
    const { waiting, stop } = wait(2, 'read-1');
    expect(await forwarding.tellResult('spin-clouddriver-2', end)).toBe('delivered');
    expect(await waiting).toEqual(answer);
    stop();
    expect(await forwarding.tellResult('spin-clouddriver-2', end)).toBe('gone');
  });

  test('POST /armory/agent/operations takes {"operation": <toString() of the protobuf message>}', async () => {
    using connection = connect(0);
    const text = formatProtobufText(operationSchema, operation);
    expect(await send('/armory/agent/operations', { operation: text })).toEqual({ status: 202, body: {} });
    expect(connection.told).toEqual([hint]);
    const unknown = 'account: "edge-7" id: "x" kind: "news"';
    expect((await send('/armory/agent/operations', { operation: unknown })).status).toBe(202);
    expect(connection.told.at(-1)).toEqual({ kind: 'TASK', account: 'edge-7', id: '' });
    const foreign = await send('/armory/agent/operations', { operation: 'account: "edge-8"' });
    const message = 'No agent of this account is connected here';
    expect(foreign).toMatchObject({ status: 404, body: { message } });
  });

  test('POST /armory/agent/operationresults takes {"result": <toString() of the protobuf message>}', async () => {
    const { waiting } = wait(0, 'read-2');
    const told = await send('/armory/agent/operationresults', { result: 'id: "read-2" status: 200' });
    expect(told).toEqual({ status: 200, body: {} });
    expect(await waiting).toEqual(answer);
    expect((await send('/armory/agent/operationresults', { result: 'id: "read-2"' })).status).toBe(404);
  });

  describe.each(['operations', 'operationresults'])('POST /armory/agent/%s', (route) => {
    const path = `/armory/agent/${route}`;
    const field = route === 'operations' ? 'operation' : 'result';

    test('is refused without a token, and with one of another audience, another account or nobody', async () => {
      const own = await pod.writeToken('sts.amazonaws.com');
      const foreign = await pod.writeToken(peerAudience, 'default');
      const forged = join(pod.directory, 'forged');
      await writeFile(forged, 'a.b.c');
      for (const file of [null, own, foreign, forged, join(pod.directory, 'ca.crt')]) {
        const refused = file?.endsWith('ca.crt')
          ? await call(0, path, { method: 'POST', headers: { authorization: 'Basic x' }, body: '{}' })
          : await send(path, { [field]: '' }, file);
        const message = 'Only replicas of this Busdriver may call this';
        expect(refused).toMatchObject({ status: 403, body: { message } });
      }
    });

    const noText = `the body must be a JSON object whose '${field}' is the text form of a message`;
    test.each([
      ['', noText],
      ['{', noText],
      [{ [field]: 7 }, noText],
      [{ other: '' }, noText],
      [
        { [field]: 'id: 7' },
        `'${field}' must be the text form of a message: at character 5 a text in quotes for 'id' is expected`,
      ],
      [{ [field]: '\0'.repeat(100_000) }, 'the body must be at most 99328 characters long'],
    ])('answers 400 to what cannot be read, and says what was expected: %.40j', async (body, problem) => {
      expect(await send(path, body)).toMatchObject({ status: 400, body: { errors: [problem] } });
    });
  });

  test('its health says how it knows its peers', async () => {
    const body = { status: 'UP', details: { peers: 'watching' } };
    expect(await call(0, '/health')).toEqual({ status: 200, body });
  });

  test('all other routes are those of Clouddriver', async () => {
    expect(await call(2, '/credentials')).toEqual({ status: 200, body: [] });
    expect((await call(2, '/armory/nothing')).status).toBe(404);
  });

  test('it answers to the names of its Services in its namespace, and to no name of the internet', async () => {
    const ask = (host: string) =>
      new Promise((resolve, reject) => {
        request(new URL('/health', get(0).url), { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .once('error', reject)
          .end();
      });
    const namespace = pod.namespace.name;
    const known = [
      'spin-clouddriver:7002',
      `spin-clouddriver-rw.${namespace}`,
      `Spin-Clouddriver.${namespace}.svc.cluster.local:7002`,
      '10.99.0.1:7002',
      '[fd00::1]',
    ];
    const unknown = [
      'evil.example.com',
      'spin-clouddriver.evil.com',
      `spin-clouddriver.${namespace}.svc.evil.com`,
      `spin-clouddriver.other.svc`,
    ];
    for (const host of known) expect(await ask(host), host).toBe(200);
    for (const host of unknown) expect(await ask(host), host).toBe(403);
  });
});
