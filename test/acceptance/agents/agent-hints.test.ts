import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { CertificateAuthority } from '../../shared/providers/kubernetes/credentials/certificates.ts';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  type TokenSigner,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { connectForHints } from '../../support/agents/hint-socket.ts';
import { createNamespace, describeWithCluster, findObject } from '../../support/cluster/cluster.ts';
import { startConnectProxy, startTlsFront } from '../../support/network/connect-proxy.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import type { System } from '../../support/system/system.ts';

const testMs = 180_000;

/** Agents ask by themselves once in a minute: what is done long before that they were told of. */
const seldom = { limits: { pollIdleMs: 100, pollBusyMs: 50, pollConnectedMs: 60_000 } };
const soonMs = 30_000;

test(
  'a connection is closed with the code of what is wrong with it',
  async () => {
    const signer = await createTokenSigner();
    await using world = await startWorld([toAgentAccount('edge', signer)]);
    const { url } = world.system;
    const { token } = await openSession(url, signer, { agentId: 'one' });
    const closeWith = async (data: string | Uint8Array): Promise<number> => {
      using socket = await connectForHints(url, token);
      socket.send(data);
      return await socket.closed;
    };

    for (const wrong of [undefined, 'no-token', `${token}x`]) {
      using socket = await connectForHints(url, wrong);
      expect([wrong === undefined, await socket.closed]).toEqual([wrong === undefined, 4401]);
    }
    expect(await closeWith('{"v":2,"t":"ping","n":1}')).toBe(4426);
    expect(await closeWith('{"v":1,"t":"ping"}')).toBe(1003);
    expect(await closeWith('no JSON')).toBe(1003);
    expect(await closeWith('[]')).toBe(1003);
    expect(await closeWith(Buffer.from('{"v":1,"t":"ping","n":1}'))).toBe(1003);
    expect(await closeWith(JSON.stringify({ v: 1, t: 'ping', n: 1, x: 'x'.repeat(1_024) }))).toBe(1009);
    await expect(connectForHints(url, token, { headers: { origin: 'https://evil.test' } })).rejects.toThrow(
      '403',
    );
    await expect(connectForHints(url, token, { headers: { host: 'evil.test' } })).rejects.toThrow('403');
    const log = await world.system.readLog();
    expect(log).not.toContain(token);
  },
  testMs,
);

test(
  'a connection is answered, told, and closed when another one takes its place or its session ends',
  async () => {
    const signer = await createTokenSigner();
    const accounts = ['edge', 'other'].map((name) => toAgentAccount(name, signer));
    await using world = await startWorld(accounts);
    const { url } = world.system;
    const first = await openSession(url, signer, { agentId: 'one' });
    using oldest = await connectForHints(url, first.token);
    oldest.send('{"v":1,"t":"news","x":1}');
    oldest.send('{"v":1,"t":"ping","n":7,"x":1}');
    expect(await oldest.waitFor(({ t }) => t === 'pong')).toEqual({ v: 1, t: 'pong', n: 7 });

    const id = await world.system.postOperations([toDeploy('edge', 'default', ['a'])]);
    expect(await oldest.waitFor(({ t }) => t === 'work')).toEqual({
      v: 1,
      t: 'work',
      k: 'task',
      a: 'edge',
      id,
    });

    // A session has two at most while one takes the place of the other.
    using second = await connectForHints(url, first.token);
    using third = await connectForHints(url, first.token);
    expect(await oldest.closed).toBe(4409);
    // Another agent's, and one that proves less: they take nobody's place.
    using beside = await connectForHints(url, (await openSession(url, signer, { agentId: 'two' })).token);
    using less = await connectForHints(
      url,
      (await openSession(url, signer, { agentId: 'one', names: ['other'] })).token,
    );
    await pingPong(beside, less, third);
    const next = await openSession(url, signer, { agentId: 'one' });
    using replacing = await connectForHints(url, next.token);
    expect(await Promise.all([second.closed, third.closed, less.closed])).toEqual([4409, 4409, 4409]);
    await pingPong(beside, replacing);

    await call(`${url}/agent/v1/sessions/${next.session}`, next.token, { method: 'DELETE' });
    expect(await replacing.closed).toBe(4401);
    expect(replacing.frames.at(-1)).toMatchObject({ t: 'work', k: 'close', id: next.session });
    await pingPong(beside);
  },
  testMs,
);

test(
  'where 64 strangers are being told that their tokens prove nothing others are answered 401, and agents connect',
  async () => {
    const signer = await createTokenSigner();
    await using world = await startWorld([toAgentAccount('edge', signer)]);
    const { url } = world.system;
    const { token } = await openSession(url, signer, { agentId: 'one', names: ['edge'] });
    const crowds: (readonly string[])[] = [];
    // Each is told for a second, for none of them answers: on a slow machine some end before others come.
    await vi.waitFor(
      async () => {
        await using crowd = await connectStrangers(url, 200);
        crowds.push(crowd.statuses);
        using agent = await connectForHints(url, token);
        await pingPong(agent);
        expect(crowd.told).toBeLessThanOrEqual(64 * (crowd.seconds + 1));
        expect(crowd.statuses).toContain('401');
      },
      { timeout: 60_000, interval: 50 },
    );
    expect(new Set(crowds.flat())).toEqual(new Set(['101', '401']));
    // Once they are gone a stranger is told by the code again.
    await vi.waitFor(
      async () => {
        using stranger = await connectForHints(url, 'no-token');
        expect(await stranger.closed).toBe(4401);
      },
      { timeout: 60_000, interval: 200 },
    );
  },
  testMs,
);

test(
  'nobody connects where agents are not served, and other upgrades are requests like any',
  async () => {
    await using world = await startWorld([], [], { enabled: false });
    const { url } = world.system;
    await expect(connectForHints(url, 'any')).rejects.toThrow('404');
    const health = new URL(url);
    const answer = await sendRaw(
      Number(health.port),
      `GET /health HTTP/1.1\r\nhost: ${health.host}\r\nconnection: Upgrade, close\r\nupgrade: h2c\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"UP"/);
  },
  testMs,
);

describeWithCluster('agents that are told', (cluster) => {
  const start = async (url: string, signer: TokenSigner, transport?: string): Promise<AgentProcess> =>
    startAgent({
      ...{ url, token: await signer.sign(), ...(transport && { transport }) },
      accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
    });

  test(
    'begin reads and operations at once, without asking',
    async () => {
      await using namespace = await createNamespace('hints');
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)], [], seldom);
      const { system } = world;
      await using agent = await start(system.url, signer);
      await waitUntilConnected(agent);

      const startedAt = Date.now();
      await deploy(system, namespace.name, 'told');
      const read = await system.fetch(`/manifests/edge/${namespace.name}/configMap told`);
      expect(read.status).toBe(200);
      expect(Date.now() - startedAt).toBeLessThan(soonMs);
      expect(await findObject(`/api/v1/namespaces/${namespace.name}/configmaps/told`)).toBeDefined();
    },
    testMs,
  );

  test(
    'find by asking what they were not told of, for the connection leads nowhere',
    async () => {
      await using namespace = await createNamespace('hints');
      const signer = await createTokenSigner();
      const limits = { ...seldom.limits, pollConnectedMs: 1_000 };
      await using world = await startWorld([toAgentAccount('edge', signer)], [], { limits });
      await using hole = await startHintHole(Number(new URL(world.system.url).port));
      await using agent = await start(hole.url, signer);
      await waitUntilConnected(agent);
      await deploy(world.system, namespace.name, 'asked');
      expect(hole.swallowed()).toBeGreaterThan(0);
    },
    testMs,
  );

  test(
    'connect through a proxy that alone knows where Busdriver is',
    async () => {
      await using namespace = await createNamespace('hints');
      const signer = await createTokenSigner();
      const args = ['--allow-host', 'busdriver.test'];
      await using world = await startWorld([toAgentAccount('edge', signer)], args, seldom);
      const authority = new CertificateAuthority('busdriver');
      const identity = authority.issue({ commonName: 'busdriver.test', hosts: ['busdriver.test'] });
      await using front = await startTlsFront(Number(new URL(world.system.url).port), identity);
      await using proxy = await startConnectProxy(new Map([['busdriver.test', front.place]]));
      await using dir = await makeTempDir();
      const caFile = path.join(dir.path, 'ca.crt');
      await writeFile(caFile, authority.certificate);
      await using agent = await startAgent({
        ...{ url: 'https://busdriver.test', token: await signer.sign(), transport: 'websocket' },
        accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
        tls: { cacertFile: caFile },
        environment: { HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1', https_proxy: '', no_proxy: '' },
      });
      await waitUntilConnected(agent);
      expect(new Set(proxy.hosts)).toEqual(new Set(['busdriver.test']));
      const startedAt = Date.now();
      await deploy(world.system, namespace.name, 'by-proxy');
      expect(Date.now() - startedAt).toBeLessThan(soonMs);
    },
    testMs,
  );

  test(
    'connect again when Busdriver was killed and is back',
    async () => {
      await using namespace = await createNamespace('hints');
      const signer = await createTokenSigner();
      const port = await findFreePort();
      await using world = await startWorld([toAgentAccount('edge', signer)], ['--port', `${port}`], seldom);
      const { system } = world;
      await using agent = await start(system.url, signer);
      await waitUntilConnected(agent);
      await system.kill('SIGKILL');
      await vi.waitFor(() => expect(agent.log).toContain('no connection for hints'), 60_000);
      await system.restart();
      await waitUntilConnected(agent, 2);
      const startedAt = Date.now();
      await deploy(system, namespace.name, 'again');
      expect(Date.now() - startedAt).toBeLessThan(soonMs);
    },
    testMs,
  );
});

async function deploy(system: System, namespace: string, name: string): Promise<void> {
  const id = await system.postOperations([toDeploy('edge', namespace, [name])]);
  const task = await system.waitForTask(id, { timeoutMs: 60_000 });
  expect(task.status.failed).toBe(false);
}

/** Once an agent is connected it asks once more; what comes after that it is told. */
async function waitUntilConnected(agent: AgentProcess, times = 1): Promise<void> {
  await vi.waitFor(
    () => expect(agent.log.split('connected: Busdriver tells of work')).toHaveLength(times + 1),
    60_000,
  );
}

async function pingPong(...sockets: readonly Awaited<ReturnType<typeof connectForHints>>[]): Promise<void> {
  for (const [index, socket] of sockets.entries()) {
    const n = socket.frames.length * 100 + index;
    socket.send(JSON.stringify({ v: 1, t: 'ping', n }));
    await socket.waitFor((frame) => frame['t'] === 'pong' && frame['n'] === n);
  }
}

async function openSession(
  url: string,
  signer: TokenSigner,
  { agentId, names = ['edge', 'other'] }: { readonly agentId: string; readonly names?: readonly string[] },
): Promise<{ readonly session: string; readonly token: string }> {
  const hello = {
    ...{ agentId, version: '1', protocol: 1, journalFormat: 1 },
    accounts: names.map((name) => ({ name })),
  };
  const welcome = await call(`${url}/agent/v1/sessions`, await signer.sign(), {
    method: 'POST',
    body: hello,
  });
  expect(welcome).toMatchObject({ hintUrl: '/agent/v1/hints' });
  return welcome as { readonly session: string; readonly token: string };
}

async function call(
  url: string,
  token: string,
  { method, body }: { readonly method: string; readonly body?: object },
): Promise<unknown> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.ok).toBe(true);
  const text = await answer.text();
  return text === '' ? undefined : JSON.parse(text);
}

async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  let answer = '';
  for await (const piece of socket) answer += piece;
  return answer;
}

/**
 * Asks for connections with a token that proves nothing, and never answers their ends.
 *
 * @returns the status of each, how many are told over a connection, and in how many seconds at most they were answered
 */
async function connectStrangers(url: string, count: number) {
  const { host, hostname, port } = new URL(url);
  const request = [
    ...['GET /agent/v1/hints HTTP/1.1', `host: ${host}`, 'connection: Upgrade', 'upgrade: websocket'],
    ...['sec-websocket-version: 13', 'sec-websocket-key: AQIDBAUGBwgJCgsMDQ4PEA=='],
    'authorization: Bearer no-token',
  ];
  const startedMs = performance.now();
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => undefined).write(`${request.join('\r\n')}\r\n\r\n`);
      const [answer] = await once(socket, 'data');
      return String(answer).slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3);
    }),
  );
  return {
    statuses,
    told: statuses.filter((status) => status === '101').length,
    seconds: Math.ceil((performance.now() - startedMs) / 1_000),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Leads to a server, but for what that sends over a WebSocket once it is open. */
async function startHintHole(port: number) {
  let swallowed = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let isHole = false;
    for (const socket of [near, far]) sockets.add(socket.on('error', () => socket.destroy()));
    near.on('data', (data) => {
      isHole ||= data.includes('GET /agent/v1/hints');
      far.write(data);
    });
    let isOpen = false;
    far.on('data', (data) => {
      if (isHole && isOpen) swallowed += data.length;
      else near.write(data);
      isOpen ||= isHole;
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallowed: () => swallowed,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
