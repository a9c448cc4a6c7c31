import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { connectForHints, type HintSocket } from '#test/support/agents/hint-socket.ts';
import { type RawAgent, type RawAnswer, sayHello } from '#test/support/agents/raw-agent.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { startConnectProxy, startTlsFront } from '#test/support/network/connect-proxy.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startHintHole } from './drills/hint-hole.ts';
import { connectStrangers, startFlood } from './drills/strangers.ts';

const timeout = 60_000;

/** Agents that are connected ask by themselves once in a minute: what is done long before that they were told of. */
const seldom = { limits: { pollIdleMs: 100, pollBusyMs: 50, pollConnectedMs: 60_000 } };
const soonMs = 30_000;

/** What one process lets in within any second, and a number that is far beyond it. */
const perSecond = 25;
const crowd = 200;

const stack = new AsyncDisposableStack();
/** Agents of this one ask each second, connected or not. */
let world: World;
let url: string;
beforeAll(async () => {
  const limits = { ...seldom.limits, pollConnectedMs: 1_000 };
  world = stack.use(await startWorld(['edge', 'other'], { agents: { limits } }));
  url = world.system.url;
});
afterAll(() => stack.disposeAsync());

const open = (agentId: string, ...accounts: readonly string[]): Promise<RawAgent> =>
  world.open(accounts.length === 0 ? ['edge', 'other'] : accounts, { agentId });

async function pingPong(...sockets: readonly HintSocket[]): Promise<void> {
  for (const [index, socket] of sockets.entries()) {
    const n = socket.frames.length * 100 + index;
    socket.send(JSON.stringify({ v: 1, t: 'ping', n }));
    await socket.waitFor((frame) => frame['t'] === 'pong' && frame['n'] === n);
  }
}

describe('a connection', () => {
  test('is closed with the code of what is wrong with it', async () => {
    const { token, welcome } = await open('closed');
    expect(welcome).toMatchObject({ hintUrl: '/agent/v1/hints' });
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
    for (const headers of [{ origin: 'https://evil.test' }, { host: 'evil.test' }]) {
      await expect(connectForHints(url, token, { headers })).rejects.toThrow('403');
    }
    expect(await world.system.readLog()).not.toContain(token);
  });

  test('is answered, told, and closed when another one takes its place or its session ends', async () => {
    const first = await open('one');
    using oldest = await connectForHints(url, first.token);
    oldest.send('{"v":1,"t":"news","x":1}');
    oldest.send('{"v":1,"t":"ping","n":7,"x":1}');
    expect(await oldest.waitFor(({ t }) => t === 'pong')).toEqual({ v: 1, t: 'pong', n: 7 });

    const id = await world.post('edge', 'default', 'a');
    const told = { v: 1, t: 'work', k: 'task', a: 'edge', id };
    expect(await oldest.waitFor(({ t }) => t === 'work')).toEqual(told);

    // A session has two at most while one takes the place of the other.
    using second = await connectForHints(url, first.token);
    using third = await connectForHints(url, first.token);
    expect(await oldest.closed).toBe(4409);
    // Another agent's, and one that proves less: they take nobody's place.
    using beside = await connectForHints(url, (await open('two')).token);
    using less = await connectForHints(url, (await open('one', 'other')).token);
    await pingPong(beside, less, third);
    const next = await open('one');
    using replacing = await connectForHints(url, next.token);
    expect(await Promise.all([second.closed, third.closed, less.closed])).toEqual([4409, 4409, 4409]);
    await pingPong(beside, replacing);

    await next.close();
    expect(await replacing.closed).toBe(4401);
    expect(replacing.frames.at(-1)).toMatchObject({ t: 'work', k: 'close', id: next.session });
    await pingPong(beside);
  });
});

describeWithCluster('agents that are told', (cluster) => {
  let told: World;
  let namespace: TestNamespace;
  beforeAll(async () => {
    namespace = stack.use(await createNamespace('hints'));
    const args = ['--allow-host', 'busdriver.test'];
    told = stack.use(await startWorld(['edge'], { keepsPort: true, args, agents: seldom }));
  });

  async function deploy(by: World, name: string): Promise<void> {
    const task = await by.deploy('edge', namespace.name, name);
    expect(task.status.failed).toBe(false);
  }

  /** Deploys what is only done so soon because the agent was told of it. */
  async function deploySoon(name: string): Promise<void> {
    const startedMs = performance.now();
    await deploy(told, name);
    expect(performance.now() - startedMs).toBeLessThan(soonMs);
  }

  test('begin reads and operations at once, without asking, and connect again when Busdriver was killed and is back', async () => {
    await using agent = await told.start('edge', cluster.kubeconfig);
    await agent.untilConnected();
    const startedMs = performance.now();
    await deploySoon('told');
    const read = await told.system.fetch(`/manifests/edge/${namespace.name}/configMap told`);
    expect(read.status).toBe(200);
    expect(performance.now() - startedMs).toBeLessThan(soonMs);
    expect(await findObject(`/api/v1/namespaces/${namespace.name}/configmaps/told`)).toBeDefined();

    await told.system.kill('SIGKILL');
    await agent.untilLogged('no connection for hints');
    await told.system.restart();
    await agent.untilConnected(2);
    await deploySoon('again');
  });

  test('find by asking what they were not told of, for the connection leads nowhere', async () => {
    await using hole = await startHintHole(Number(new URL(url).port));
    await using agent = await world.start('edge', cluster.kubeconfig, { url: hole.url });
    await agent.untilConnected();
    await deploy(world, 'asked');
    expect(hole.swallowed).toBeGreaterThan(0);
  });

  test('connect through a proxy that alone knows where Busdriver is', async () => {
    const authority = new CertificateAuthority('busdriver');
    const identity = authority.issue({ commonName: 'busdriver.test', hosts: ['busdriver.test'] });
    await using front = await startTlsFront(Number(new URL(told.system.url).port), identity);
    await using proxy = await startConnectProxy(new Map([['busdriver.test', front.place]]));
    await using dir = await makeTempDir();
    const cacertFile = path.join(dir.path, 'ca.crt');
    await writeFile(cacertFile, authority.certificate);
    await using agent = await told.start('edge', cluster.kubeconfig, {
      ...{ url: 'https://busdriver.test', transport: 'websocket', tls: { cacertFile } },
      environment: { HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1', https_proxy: '', no_proxy: '' },
    });
    await agent.untilConnected();
    expect(new Set(proxy.hosts)).toEqual(new Set(['busdriver.test']));
    await deploySoon('by-proxy');
  });
});

describe('floods', () => {
  const openSession = (token: string | undefined): Promise<RawAnswer> =>
    sayHello(url, token, { agentId: 'stranger', accounts: ['edge'] });

  /** The code with which a connection is closed, or why there is none. */
  async function tryToConnect(token: string | undefined): Promise<number | string> {
    try {
      using socket = await connectForHints(url, token);
      return await socket.closed;
    } catch (error) {
      return String(error);
    }
  }

  test('of 64 strangers that are being told that their tokens prove nothing have others answered 401, and agents connect', async () => {
    const { token } = await open('beside');
    const crowds: (readonly string[])[] = [];
    // Each is told for a second, for none of them answers: on a slow machine some end before others come.
    await vi.waitFor(
      async () => {
        await using strangers = await connectStrangers(url, crowd);
        crowds.push(strangers.statuses);
        using agent = await connectForHints(url, token);
        await pingPong(agent);
        expect(strangers.told).toBeLessThanOrEqual(64 * (strangers.seconds + 1));
        expect(strangers.statuses).toContain('401');
      },
      { timeout, interval: 50 },
    );
    expect(new Set(crowds.flat())).toEqual(new Set(['101', '401']));
    // Once they are gone a stranger is told by the code again.
    const isTold = async () => expect(await tryToConnect('no-token')).toBe(4401);
    await vi.waitFor(isTold, { timeout, interval: 200 });
  });

  test('of strangers who ask for sessions, or connect, keep no agent from its own', async () => {
    for (const [ask, refusal] of [
      [async (token: string | undefined) => (await openSession(token)).status, 401],
      [tryToConnect, 4401],
    ] as const) {
      await using strangers = startFlood<number | string>(ask, { senders: 12 });
      for (let count = 1; count <= 3; count += 1) {
        await expect.poll(() => strangers.count).toBeGreaterThan(count * 4 * perSecond);
        const agent = await open(`agent-${count}`);
        using socket = await connectForHints(url, agent.token);
        await pingPong(socket);
      }
      expect([...strangers.answers.keys()]).toEqual([refusal]);
    }
  });

  test('of agents that prove who they are get so many sessions within a second, and the others another second to come again', async () => {
    const token = await world.signer.sign();
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: crowd }, () => openSession(token)));
    const most = perSecond * (Math.ceil((performance.now() - startedMs) / 1_000) + 1);
    const statuses = Map.groupBy(answers, ({ status }) => status);
    const [opened, refused] = [statuses.get(200) ?? [], statuses.get(503) ?? []];
    expect(opened.length).toBeLessThanOrEqual(most);
    expect(opened.length + refused.length).toBe(crowd);
    // Some come no further than the door, where too many wait at a time.
    const gated = refused.filter(({ body }) => String(body['message']).includes('agents connect'));
    const told = gated.map(({ headers }) => Number(headers.get('retry-after')));
    expect(told.every((each) => each >= 1 && each <= 60)).toBe(true);
    // As many are told one second as are let in within it.
    const together = [...Map.groupBy(told, (each) => each).values()].map(({ length }) => length);
    expect(Math.max(0, ...together)).toBeLessThanOrEqual(most);
  });

  test('of agents that have a session get so many connections within a second', async () => {
    // As soon as others leave a place for it.
    const { token } = await vi.waitFor(() => open('patient'), { timeout, interval: 500 });
    const startedMs = performance.now();
    const outcomes = await Promise.all(
      Array.from({ length: crowd }, async () => {
        try {
          using _ = await connectForHints(url, token);
          return 'connected';
        } catch (error) {
          return String(error);
        }
      }),
    );
    const most = perSecond * (Math.ceil((performance.now() - startedMs) / 1_000) + 1);
    const connected = outcomes.filter((each) => each === 'connected').length;
    expect(connected).toBeLessThanOrEqual(most);
    expect(outcomes.filter((each) => each.includes('503')).length).toBe(crowd - connected);
  });
});
