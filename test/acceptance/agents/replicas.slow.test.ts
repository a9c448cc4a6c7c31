import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path, { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openConnections } from '#agents/sessions/connections.ts';
import { peerAudience } from '#infra/kubernetes/peers/peer-tokens.ts';
import { buildLocal } from '#infra/tools/build/build.ts';
import { type AgentDoor, startAgentDoor } from '#test/infra/kubernetes/agent-door.ts';
import { type HomeEngines, startHomeEngines } from '#test/infra/kubernetes/engines.ts';
import { GrpcClient, type GrpcHost, hello, startGrpcHost } from '#test/infra/kubernetes/grpc/grpc-host.ts';
import { createTlsFiles } from '#test/infra/kubernetes/grpc/tls-files.ts';
import { createPod, type TestPod, writeEndpoints } from '#test/infra/kubernetes/pod.ts';
import { type LabProcess, startLabProcess } from '#test/lab/processes.ts';
import {
  startTcpForwarder,
  type TcpForwarder,
} from '#test/shared/providers/kubernetes/transport/tcp-forwarder.ts';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  type TokenSigner,
  toAgentAccount,
} from '#test/support/agents/agent-process.ts';
import { listShown, makeDeployment } from '#test/support/agents/cached-account.ts';
import { writeSessionKey } from '#test/support/agents/session-key.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { ApiCaller } from '#test/support/system/api-caller.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';

const waitMs = 120_000;

/** Pods by name. Agents of the last one ask each second, those of others once in a minute. */
const podAddresses = { 'pod-a': '10.97.0.1', 'pod-b': '10.97.0.2', 'pod-c': '10.97.0.3' };
type PodName = keyof typeof podAddresses;
const podNames = Object.keys(podAddresses) as PodName[];
const pollMs: { readonly [name in PodName]: number } = { 'pod-a': 60_000, 'pod-b': 60_000, 'pod-c': 1_000 };

/** Deploys until one is not disturbed by a question of the agent that begins, or is under way, just then. */
const triesMax = 3;

interface Ready {
  readonly url: string;
  readonly grpcPort: number;
}

/** Calls the API of a replica. */
class ReplicaCaller extends ApiCaller {
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
  }

  override async describe(): Promise<string> {
    return '';
  }
}

/** A replica in a process of its own, and the way that others reach it. */
class Replica extends ReplicaCaller {
  readonly process: LabProcess<Ready>;
  readonly peerDoor: TcpForwarder;
  readonly logFile: string;

  constructor(process: LabProcess<Ready>, peerDoor: TcpForwarder, logFile: string) {
    super(process.first.url);
    this.process = process;
    this.peerDoor = peerDoor;
    this.logFile = logFile;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  override async describe(): Promise<string> {
    return ` (${path.basename(this.logFile)})`;
  }
}

describeWithCluster('agents of three replicas', (cluster) => {
  const stack = new AsyncDisposableStack();
  const replicas = new Map<PodName, Replica>();
  let engines: HomeEngines;
  let pod: TestPod;
  let namespace: TestNamespace;
  let signer: TokenSigner;
  let door: AgentDoor;
  let agent: AgentProcess;

  beforeAll(async () => {
    engines = stack.use(await startHomeEngines());
    signer = await createTokenSigner();
    namespace = stack.use(await createNamespace('replicas'));
    pod = stack.use(await createPod());
    await pod.letReviewTokens();
    await writeEndpoints(pod, 'spin-clouddriver', { ready: podAddresses });
    const root = join(import.meta.dirname, '../../..');
    await buildLocal({ root, outputDir: join(engines.dir, 'dist'), entries: ['infra/kubernetes/main.ts'] });
    await startReplicas();
    door = stack.use(await startAgentDoor(get('pod-a').port));
    agent = stack.use(await start());
  });
  afterAll(() => stack.disposeAsync());

  const get = (name: PodName): Replica => {
    const replica = replicas.get(name);
    if (replica === undefined) throw new Error(`no replica ${name}`);
    return replica;
  };

  async function startReplicas(): Promise<void> {
    const ways = new Map<PodName, { readonly port: number; readonly peerDoor: TcpForwarder }>();
    for (const name of podNames) {
      const port = await findFreePort();
      ways.set(name, { port, peerDoor: stack.use(await startTcpForwarder(port)) });
    }
    const peers = [...ways].map(
      ([name, { peerDoor }]) => `--peer-address=${podAddresses[name]}:7002=127.0.0.1:${peerDoor.port}`,
    );
    const key = await writeSessionKey(engines.dir);
    const token = await pod.writeToken(peerAudience);
    for (const [name, { port, peerDoor }] of ways) {
      const logFile = join(engines.dir, `${name}.log`);
      const config = await writeConfig(name);
      const process = await startLabProcess<Ready>({
        module: path.relative(join(import.meta.dirname, '../../lab'), join(engines.dir, 'dist/main.js')),
        args: [
          ...[`--pod-name=${name}`, `--config=${config}`, '--host=127.0.0.1', `--port=${port}`],
          ...['--name-prefix=', '--log-level=info', `--service-account-dir=${pod.directory}`],
          ...[`--peer-token-file=${token}`, `--session-key-file=${key}`, ...peers],
        ],
        env: { ...engines.environment, ...pod.environment } as { [name: string]: string },
        logFile,
      });
      replicas.set(name, new Replica(stack.use(process), peerDoor, logFile));
    }
  }

  async function writeConfig(name: PodName): Promise<string> {
    const config = join(engines.dir, `${name}.yml`);
    const limits = { pollIdleMs: pollMs[name], pollBusyMs: pollMs[name], pollConnectedMs: pollMs[name] };
    const settings = {
      busdriver: { agents: { enabled: true, limits } },
      kubesvc: { grpc: { server: { address: '127.0.0.1', port: 0 } } },
      kubernetes: {
        cache: { enabled: false },
        accounts: [toAgentAccount('edge', signer), toAgentAccount('far', signer)],
      },
    };
    await writeFile(config, JSON.stringify(settings));
    return config;
  }

  async function start(): Promise<AgentProcess> {
    const asked = door.asked.length;
    const started = await startAgent({
      ...{ url: door.url, token: await signer.sign() },
      accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
    });
    await started.untilConnected();
    // It asks when it begins, and when it is connected; what comes after that it is told.
    const countQuestions = () => door.asked.slice(asked).filter(isQuestion).length;
    await vi.waitFor(() => expect(countQuestions()).toBeGreaterThan(1), waitMs);
    return started;
  }

  const isQuestion = (line: string): boolean => line.startsWith('GET ') && line.endsWith('/work');

  /** Deploys by way of a replica. @returns what the agent asked for until it took the task */
  async function deploy(replica: Replica, name: string): Promise<readonly string[]> {
    const before = door.asked.length;
    const id = await replica.postOperations([toDeploy('edge', namespace.name, [name])]);
    const task = await replica.waitForTask(id, { timeoutMs: waitMs });
    expect(task.status).toMatchObject({ completed: true, failed: false });
    const configMap = await findObject(`/api/v1/namespaces/${namespace.name}/configmaps/${name}`);
    expect(configMap).toMatchObject({ data: { by: 'edge' } });
    const asked = door.asked.slice(before);
    const lease = asked.indexOf(`POST /agent/v1/tasks/${id}/lease`);
    expect(lease).toBeGreaterThanOrEqual(0);
    return asked.slice(0, lease);
  }

  async function deployByHint(replica: Replica, name: string): Promise<void> {
    let asked = await deploy(replica, `${name}-1`);
    for (let count = 2; asked.some(isQuestion) && count <= triesMax; count += 1)
      asked = await deploy(replica, `${name}-${count}`);
    expect(asked.filter(isQuestion)).toEqual([]);
  }

  test('an operation posted to another replica than the one that has the agent is begun by a hint, and not by a question', async () => {
    await deployByHint(get('pod-b'), 'told');
    expect(get('pod-a').peerDoor.counts.opened).toBeGreaterThan(0);
  });

  test('a live read asked of another replica is made by a hint, and the replica that waits is told', async () => {
    let asked: readonly string[] = ['GET /work'];
    for (let count = 0; asked.some(isQuestion) && count < triesMax; count += 1) {
      const before = door.asked.length;
      const read = await fetch(
        new URL(`/manifests/edge/${namespace.name}/configMap%20told-1`, get('pod-b').url),
      );
      expect(read.status).toBe(200);
      asked = door.asked.slice(before);
    }
    expect(asked.filter(isQuestion)).toEqual([]);
    await expect.poll(() => get('pod-b').peerDoor.counts.opened, { timeout: waitMs }).toBeGreaterThan(0);
  });

  test('who watches one replica over gRPC is told of an operation that another one takes', async () => {
    using client = new GrpcClient(get('pod-a').process.first.grpcPort);
    const token = await signer.sign();
    const accounts = [{ name: 'far' }];
    const { answer } = await client.call('Sessions.Open', { ...hello, accounts }, { token });
    const session = String(answer['session']);
    const post = (name: PodName) => get(name).postOperations([toDeploy('far', namespace.name, ['far'])]);
    const listed = await post('pod-a');
    const stream = client.watch('Sessions.Watch', { session }, String(answer['token']));
    const work: unknown[] = [];
    stream.on('data', (each) => work.push(each)).on('error', () => undefined);
    const expectTold = (id: string) =>
      expect.poll(() => work, { timeout: waitMs }).toContainEqual({ kind: 'TASK', account: 'far', id });
    // After what there is comes only what is told.
    await expectTold(listed);
    await expectTold(await post('pod-b'));
    stream.cancel();
  });

  test('an operation is done while the replica with the agent is killed, once the agent has connected to another one', async () => {
    const times = () => agent.log.split('connected: Busdriver tells of work').length;
    const before = times();
    await get('pod-a').process.kill();
    const done = deploy(get('pod-c'), 'survives');
    door.port = get('pod-b').port;
    await done;
    await expect.poll(times, { timeout: waitMs }).toBeGreaterThan(before);
    // Its row tells where it is now.
    await deployByHint(get('pod-c'), 'found-again');
  });

  test('while replicas do not reach each other the agent begins by asking', async () => {
    await agent[Symbol.asyncDispose]();
    door.port = get('pod-c').port;
    agent = stack.use(await start());
    await get('pod-c').peerDoor[Symbol.asyncDispose]();
    let asked: readonly string[] = [];
    // A question that was under way when the operation was posted may bring it too.
    for (let count = 1; !asked.some(isQuestion) && count <= triesMax; count += 1)
      asked = await deploy(get('pod-b'), `asked-${count}`);
    expect(asked.some(isQuestion)).toBe(true);
    const lines = (await readFile(get('pod-b').logFile, 'utf8')).split('\n');
    const failures = lines.filter((line) => line.includes('a message for an agent could not be passed on'));
    expect(failures.some((line) => line.includes('"peer":"pod-c"'))).toBe(true);
  });
});

describeWithCluster('an agent over gRPC with mutual TLS', (cluster) => {
  const stack = new AsyncDisposableStack();
  let home: GrpcHost;
  let namespace: TestNamespace;
  let agent: AgentProcess;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('grpc'));
    const tls = stack.use(await createTlsFiles());
    const auth = { type: 'certificate', subjects: ['CN=edge'] };
    home = stack.use(
      await startGrpcHost({
        security: { ...tls.security, clientAuth: 'REQUIRE' },
        accounts: [{ name: 'shown', namespaces: [namespace.name], agent: { auth } }],
      }),
    );
    const { certificate, key } = tls.clients.issue({ commonName: 'edge' });
    const [cacertFile, clientCertFile, clientKeyFile] = ['ca.crt', 'edge.crt', 'edge.key'].map((name) =>
      join(tls.dir.path, name),
    );
    await writeFile(clientCertFile ?? '', certificate);
    await writeFile(clientKeyFile ?? '', key);
    agent = stack.use(
      await startAgent({
        ...{ url: `grpcs://127.0.0.1:${home.port}`, token: await home.signer.sign() },
        accounts: [{ name: 'shown', kubeConfigFile: cluster.kubeconfig }],
        tls: { cacertFile, clientCertFile, clientKeyFile },
      }),
    );
    await agent.untilConnected();
  });
  afterAll(() => stack.disposeAsync());

  test('runs operations, and makes live reads, which are whole however large they are', async () => {
    const rows = await openConnections(home.host.services).list('shown');
    expect(rows).toMatchObject([{ transport: 'grpc', holder: 'spin-clouddriver-0' }]);
    const caller = new ReplicaCaller(home.host.url);
    const id = await caller.postOperations([toDeploy('shown', namespace.name, ['over-grpc'])]);
    const task = await caller.waitForTask(id, { timeoutMs: waitMs });
    expect(task.status).toMatchObject({ completed: true, failed: false });
    const configMaps = `/api/v1/namespaces/${namespace.name}/configmaps`;
    expect(await findObject(`${configMaps}/over-grpc`)).toMatchObject({ data: { by: 'shown' } });

    // Several parts, also gzipped: nothing of it repeats.
    const large = randomBytes(400_000).toString('hex');
    await requestApi('POST', configMaps, { metadata: { name: 'large' }, data: { large } });
    const read = await fetch(new URL(`/manifests/shown/${namespace.name}/configMap%20large`, home.host.url));
    expect(read.status).toBe(200);
    const { manifest } = (await read.json()) as { manifest: { data: { large: string } } };
    expect(manifest.data.large).toBe(large);
  });

  test('keeps its account cached: views show what changes', async () => {
    const isCached = async (): Promise<boolean> => {
      const answer = await fetch(new URL('/cache/introspection', home.host.url));
      const shown = (await answer.json()) as readonly { account: string; asOf?: number }[];
      return shown.some(({ account, asOf }) => account === 'shown' && asOf !== undefined);
    };
    const listNames = () => listShown(home.host.url, ['grpcshop', 'serverGroupManagers']);
    await expect.poll(isCached, { timeout: waitMs }).toBe(true);
    expect(await listNames()).toEqual([]);
    await makeDeployment(namespace.name, 'web', 'grpcshop');
    await expect.poll(listNames, { timeout: waitMs }).toEqual(['deployment web']);
    await requestApi('DELETE', `/apis/apps/v1/namespaces/${namespace.name}/deployments/web`);
    await expect.poll(listNames, { timeout: waitMs }).toEqual([]);
  });

  test('ends its session when it is told to stop, and leaves nothing running', async () => {
    expect(agent.log).not.toContain('"level":"ERROR"');
    expect(await agent.kill('SIGTERM')).toBe(0);
  });
});
