import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AgentProcess,
  createTokenSigner,
  type TokenSigner,
  toAgentAccount,
} from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { startWriteTap, type WriteTap } from '#test/support/agents/write-tap.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { endLease } from '#test/support/engines/end-lease.ts';
import { sendTaskMessages } from '#test/support/engines/stores.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import type { SystemTask } from '#test/support/system/system.ts';

/** A deploy through an agent on a machine that does much else. */
const taskMs = 60_000;

/** Milliseconds in which an agent is to end, on such a machine. */
const endMs = 20_000;

/** ConfigMaps of a deploy in the midst of which somebody is killed. */
const names = ['a', 'b', 'c', 'd', 'e'];

describeWithCluster('agents', (cluster) => {
  const stack = new AsyncDisposableStack();
  let tap: WriteTap;
  let world: World;
  /** Of the account `eight`. */
  let other: TokenSigner;
  let awaited: string;

  beforeAll(async () => {
    tap = stack.use(await startWriteTap(cluster));
    const signer = await createTokenSigner();
    other = await createTokenSigner();
    const accounts = [
      ...['edge', 'seven'],
      toAgentAccount('eight', other),
      toAgentAccount('real', await readClusterSigner()),
      toAgentAccount('deserted', signer, 1),
      { name: 'direct', kubeconfigFile: tap.kubeconfig },
    ];
    world = stack.use(await startWorld(accounts, { signer, keepsPort: true }));
    awaited = await world.post('deserted', 'default', 'never');
  });
  afterAll(() => stack.disposeAsync());

  const start = (name: string, token?: string): Promise<AgentProcess> =>
    world.start(name, tap.kubeconfig, token === undefined ? {} : { token });

  test('run operations of a cluster that is not reached from here, by a token of that cluster', async () => {
    await using namespace = await createNamespace('agents');
    await using _ = await start('real', await requestToken());
    const [through, beside] = await Promise.all(
      ['real', 'direct'].map((account) => world.deploy(account, namespace.name, account)),
    );

    expect(through?.status.failed).toBe(false);
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/real`;
    expect(await findObject(path)).toMatchObject({ data: { by: 'real' } });
    // Its history and its results are those of any other.
    expect(toText(through)).toBe(toText(beside).replaceAll('direct', 'real'));
    const types = (await world.system.readEvents())
      .filter(({ detail }) => detail['taskId'] === through?.id)
      .map((each) => each['detail-type']);
    expect(types).toContain('TaskAccepted');
    expect(types.at(-1)).toBe('TaskCompleted');
  });

  test('go on with what one was killed at: each object is written once', async () => {
    await using namespace = await createNamespace('agents');
    await using victim = await start('edge');
    const killed = Promise.withResolvers<void>();
    tap.meet(namespace.name, async (_call, count) => {
      if (count !== 3) return;
      await victim.kill('SIGKILL');
      killed.resolve();
      throw new Error('the caller was killed');
    });
    const id = await world.post('edge', namespace.name, ...names);
    await killed.promise;
    await using _second = await start('edge');
    await endLease(world.system.stores, id);
    const task = await world.system.waitForTask(id, { timeoutMs: taskMs });

    expect(task.status.failed).toBe(false);
    expect(tap.listWritten(namespace.name).toSorted()).toEqual(names);
    expect(countSubmitted(task)).toBe(names.length);
  });

  test('stop at a checkpoint when they are told to, and hand the task on at once', async () => {
    await using namespace = await createNamespace('agents');
    await using first = await start('edge');
    const stopped = Promise.withResolvers<number | null>();
    tap.meet(namespace.name, (_call, count) => {
      if (count === 1) first.kill('SIGTERM').then(stopped.resolve, stopped.reject);
    });
    const id = await world.post('edge', namespace.name, ...names);
    expect(await stopped.promise).toBe(0);
    expect(first.log).toContain('task handed on to the next worker');
    expect(first.log).not.toMatch(/"level":"(WARN|ERROR)"/);
    const { body } = await world.call('GET', `/task/${id}`);
    expect(body).toMatchObject({ status: { completed: false } });
    await using _ = await start('edge');
    // No lease has to lapse: the one that stopped has given it back.
    const task = await world.system.waitForTask(id, { timeoutMs: taskMs });

    expect(task.status.failed).toBe(false);
    expect(tap.listWritten(namespace.name).toSorted()).toEqual(names);
  });

  test('that are told to end the moment they have a session end in time', async () => {
    const ends = Array.from({ length: 3 }, async () => {
      await using agent = await start('edge');
      await agent.untilLogged('"session with Busdriver"');
      const toldMs = performance.now();
      expect(await agent.kill('SIGTERM')).toBe(0);
      return performance.now() - toldMs;
    });
    expect(Math.max(...(await Promise.all(ends)))).toBeLessThan(endMs);
  });

  test('lose nothing when Busdriver is killed: what was accepted is done after its next start', async () => {
    await using namespace = await createNamespace('agents');
    const { system } = world;
    const killed = Promise.withResolvers<void>();
    tap.meet(namespace.name, async (_call, count) => {
      if (count === 1) await system.kill('SIGKILL').then(() => killed.resolve());
    });
    await using _ = await start('edge');
    const running = await world.post('edge', namespace.name, 'a', 'b', 'c');
    await killed.promise;
    await system.restart();
    const later = await world.post('edge', namespace.name, 'later');
    const tasks = await Promise.all(
      [running, later].map((id) => system.waitForTask(id, { timeoutMs: 2 * taskMs })),
    );

    expect(tasks.map(({ status }) => status.failed)).toEqual([false, false]);
    expect(tap.listWritten(namespace.name).toSorted()).toEqual(['a', 'b', 'c', 'later']);
  });

  test('hand a task of several accounts from worker to worker, and each object is written once whoever is killed on the way', async () => {
    await using namespace = await createNamespace('agents');
    const { system } = world;
    await using agents = new AsyncDisposableStack();
    const startSeven = async () => agents.use(await start('seven'));
    const startEight = async () => agents.use(await start('eight', await other.sign()));
    const [seven, eight] = [await startSeven(), await startEight()];
    // The first write of an operation comes right behind the handover to its worker.
    const deaths = killAtFirst(namespace, {
      'o1-a': () => seven.kill('SIGKILL'),
      'o2-a': () => system.kill('SIGKILL'),
      'o3-a': () => eight.kill('SIGKILL'),
    });
    const accounts = ['direct', 'seven', 'direct', 'eight'];
    const objects = accounts.map((_, index) => [`o${index}-a`, `o${index}-b`]);
    const id = await system.postOperations(
      accounts.map((account, index) => toDeploy(account, namespace.name, objects[index] ?? [])),
    );
    for (const [name, again] of [
      ['o1-a', startSeven],
      ['o2-a', () => system.restart()],
      ['o3-a', startEight],
    ] as const) {
      await deaths.get(name);
      await again();
      await endLease(system.stores, id);
      if (name === 'o2-a') await sendTaskMessages(system.stores, id, 1);
    }
    const task = await system.waitForTask(id, { timeoutMs: 2 * taskMs });

    expect(task.status.failed).toBe(false);
    expect(tap.listWritten(namespace.name)).toEqual(objects.flat());
    expect(countSubmitted(task)).toBe(objects.flat().length);
    expect(task.history.at(-1)?.status).toBe('Orchestration completed.');
    expect(task.resultObjects).toHaveLength(accounts.length);
  });

  test('put down a task that waits, look at it again, and find that of one that was killed', async () => {
    await using namespace = await createNamespace('agents');
    const { system } = world;
    const path = `/api/v1/namespaces/${namespace.name}/configmaps`;
    const metadata = { name: 'held', finalizers: ['busdriver.test/hold'] };
    await requestApi('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await using victim = await start('edge');
    const id = await system.postOperations([
      { deleteManifest: { account: 'edge', location: namespace.name, manifestName: 'configMap held' } },
    ]);
    await victim.untilLogged('task put down: it waits', 2);
    await victim.kill('SIGKILL');
    await using second = await start('edge');
    await second.untilLogged('task put down: it waits');
    await requestApi('PATCH', `${path}/held`, { metadata: { finalizers: null } });
    const task = await system.waitForTask(id, { timeoutMs: taskMs });

    expect(task.status.failed).toBe(false);
    const waits = task.history.filter(({ status }) => status.startsWith('Waiting for'));
    expect(waits.map(({ status }) => status)).toEqual([
      expect.stringMatching(/^Waiting for configMap held to be gone, held by busdriver.test\/hold \(since /),
    ]);
  });

  test('that do not come fail a task after its time, in words that say so', async () => {
    const task = await world.system.waitForTask(awaited, { timeoutMs: 150_000 });

    expect(task.status.failed).toBe(true);
    expect(task.resultObjects[0]?.['message']).toBe(
      'No agent of account deserted was connected within 1 s; none was seen in the last day',
    );
  });

  /** Has somebody killed at the first write of each of these objects. @returns what resolves then, by the object's name */
  function killAtFirst(
    namespace: TestNamespace,
    kills: { readonly [name: string]: () => Promise<unknown> },
  ): ReadonlyMap<string, Promise<void>> {
    const ends = new Map(Object.keys(kills).map((name) => [name, Promise.withResolvers<void>()]));
    const left = new Map(Object.entries(kills));
    tap.meet(namespace.name, async ({ path, body }) => {
      const name = [...left.keys()].find((each) => JSON.stringify(body ?? path).includes(`${each}"`));
      if (name === undefined) return;
      const kill = left.get(name);
      left.delete(name);
      await kill?.();
      ends.get(name)?.resolve();
      throw new Error('the caller was killed');
    });
    return new Map([...ends].map(([name, { promise }]) => [name, promise]));
  }
});

/** What the API server itself says of who signs its tokens. */
async function readClusterSigner(): Promise<Pick<TokenSigner, 'issuer' | 'subject' | 'jwks'>> {
  const { issuer } = (await requestApi('GET', '/.well-known/openid-configuration')) as { issuer: string };
  const jwks = (await requestApi('GET', '/openid/v1/jwks')) as TokenSigner['jwks'];
  return { issuer, jwks, subject: 'system:serviceaccount:default:default' };
}

async function requestToken(): Promise<string> {
  const answer = await requestApi('POST', `/api/v1/namespaces/default/serviceaccounts/default/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['busdriver:local'], expirationSeconds: 3_600 },
  });
  return (answer as { status: { token: string } }).status.token;
}

function countSubmitted({ history }: SystemTask): number {
  return history.filter(({ status }) => status.startsWith('Submitting ')).length;
}

/** What a task shows that does not depend on when it ran. */
function toText(task: SystemTask | undefined): string {
  const { history, resultObjects, status } = task ?? {};
  return JSON.stringify({ history, resultObjects, status }, (key, value: unknown) =>
    ['uid', 'resourceVersion', 'creationTimestamp', 'time', 'managedFields'].includes(key)
      ? undefined
      : value,
  );
}
