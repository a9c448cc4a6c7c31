import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AgentProcess,
  createTokenSigner,
  type TokenSigner,
  toAgentAccount,
} from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { toDeployment } from '#test/support/agents/cached-account.ts';
import { openRawAgent, type RawAgent } from '#test/support/agents/raw-agent.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';

const timeout = 60_000;

interface Answer {
  readonly status: number;
  readonly text: string;
}

describeWithCluster('live reads through an agent', (cluster) => {
  const stack = new AsyncDisposableStack();
  let world: World;
  let namespace: TestNamespace;
  let agent: AgentProcess;
  let other: TokenSigner;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('reads'));
    other = await createTokenSigner('system:serviceaccount:other:agent');
    const direct = { name: 'direct', kubeconfigFile: cluster.kubeconfig };
    const accounts = ['edge', 'raw', 'nonsense', 'deserted', toAgentAccount('foreign', other), direct];
    world = stack.use(await startWorld(accounts));
    agent = stack.use(await world.start('edge', cluster.kubeconfig));
  });
  afterAll(() => stack.disposeAsync());

  async function read(path: string): Promise<Answer> {
    const answer = await world.system.fetch(encodeURI(path));
    return { status: answer.status, text: await answer.text() };
  }

  /** What a path answers through the agent; it must be what it answers directly. */
  async function readBoth(path: string): Promise<Answer> {
    const [remote, near] = [
      await read(path.replace('{a}', 'edge')),
      await read(path.replace('{a}', 'direct')),
    ];
    expect([path, toComparable(remote, 'edge')]).toEqual([path, toComparable(near, 'direct')]);
    return remote;
  }

  test('are those of a direct account, to the letter', async () => {
    const ns = namespace.name;
    await deployWeb(ns);
    // Random text: it takes several parts though it is packed.
    const text = randomBytes(600_000).toString('base64');
    const core = `/api/v1/namespaces/${ns}`;
    await requestApi('POST', `${core}/configmaps`, { metadata: { name: 'large' }, data: { text } });
    const code = { metadata: { name: 'code' }, stringData: { word: 'planted' } };
    await requestApi('POST', `${core}/secrets`, code);

    const statuses: number[] = [];
    for (const path of [
      ...['deployment web', 'configMap large', 'secret code'].map((name) => `/manifests/{a}/${ns}/${name}`),
      `/manifests/{a}/namespace ${ns}`,
      `/manifests/{a}/${ns}/deployment web?includeEvents=false`,
      `/manifests/{a}/${ns}/configMap/cluster/shop/configMap conf`,
      `/manifests/{a}/${ns}/configMap/cluster/shop/configMap conf/dynamic/newest`,
      // Errors of the cluster, and of what is asked for.
      `/manifests/{a}/${ns}/configMap no-such`,
      `/manifests/{a}/${ns}/noSuchKind x`,
      `/manifests/{a}/${ns}/nothing`,
      `/manifests/{a}/${ns}/configMap/cluster/shop/configMap conf/dynamic/no-such`,
      `/applications/shop/jobs/{a}/${ns}/job no-such`,
      `/instances/{a}/${ns}/pod no-such/console`,
    ]) {
      statuses.push((await readBoth(path)).status);
    }
    expect(statuses.slice(0, 8)).toEqual([...Array(7).fill(200), 404]);
    const web = await read(`/manifests/edge/${ns}/deployment web`);
    // Java takes 2 for another type than 2.0.
    expect(web.text).toContain('"replicas":2.0');
    const live = await findObject(`/apis/apps/v1/namespaces/${ns}/deployments/web`);
    const { uid } = (live as { metadata: { uid: string } }).metadata;
    expect(JSON.parse(web.text)).toMatchObject({
      ...{ account: 'edge', status: { stable: { state: true } }, manifest: { metadata: { uid } } },
    });
    expect(agent.log).not.toContain('planted');
    expect(await world.system.readLog()).not.toContain('planted');
  });

  test('show jobs, what they write, and end them', async () => {
    const ns = namespace.name;
    await requestApi('POST', `/apis/batch/v1/namespaces/${ns}/jobs`, toJob('smoke'));
    const job = `/applications/shop/jobs/{a}/${ns}/job smoke`;
    const own = encodeURI(job.replace('{a}', 'edge'));
    await expect
      .poll(async () => (await read(job.replace('{a}', 'direct'))).text)
      .toContain('"jobState":"Succeeded"');
    await expect.poll(async () => (await world.system.fetch(own)).status).toBe(200);
    const pod = await findPod(ns, 'smoke');
    for (const path of [
      job,
      `${job}/main`,
      `/applications/shop/kubernetes/pods/{a}/${ns}/${pod}/main`,
      `/instances/{a}/${ns}/pod ${pod}/console`,
    ]) {
      expect([path, (await readBoth(path)).status]).toEqual([path, 200]);
    }
    expect((await read(`${job}/main`.replace('{a}', 'edge'))).text).toBe('{"colour":"green"}');

    expect((await world.system.fetch(own, { method: 'DELETE' })).status).toBe(200);
    await expect.poll(() => findObject(`/apis/batch/v1/namespaces/${ns}/jobs/smoke`)).toBeUndefined();
    const again = await world.system.fetch(own, { method: 'DELETE' });
    expect([again.status, await again.text()]).toEqual([
      404,
      expect.stringContaining('job smoke) not found'),
    ]);
  });

  const openStranger = (): Promise<RawAgent> =>
    openRawAgent(world.system.url, other, { agentId: 'stranger', accounts: ['foreign'] });

  /** Not by the system's `fetch`, which holds answers against the contract. */
  const ask = (account: string): Promise<Response> => {
    const asked = fetch(new URL(`/manifests/${account}/default/configMap%20conf`, world.system.url));
    // A test that fails before it is answered leaves it alone.
    asked.catch(() => undefined);
    return asked;
  };
  /** Asks for work until there is a read. */
  const waitForRead = async (agent: RawAgent): Promise<string> => {
    const findRead = async () => (await agent.listWork()).find(({ kind }) => kind === 'READ')?.id;
    await expect.poll(findRead).toBeDefined();
    return (await findRead()) ?? '';
  };
  const toPart = (take: number, bytes: Buffer) => ({
    ...{ take, part: 0, last: true, data: bytes.toString('base64') },
  });

  test('are given to agents of their account alone', async () => {
    const [own, stranger] = [await world.open(['raw']), await openStranger()];
    const asked = ask('raw');
    const id = await waitForRead(own);
    const answer = (take: number, value: object) => toPart(take, gzipSync(JSON.stringify(value)));

    expect(await stranger.listWork()).toEqual([]);
    expect((await stranger.call('POST', `/agent/v1/reads/${id}/lease`)).status).toBe(403);
    expect((await own.call('POST', '/agent/v1/reads/no-such/lease')).status).toBe(403);
    const taken = await own.call('POST', `/agent/v1/reads/${id}/lease`);
    expect(taken).toMatchObject({
      status: 200,
      body: { id, account: 'raw', method: 'manifests.get', take: 1 },
    });
    expect((await own.call('POST', `/agent/v1/reads/${id}/lease`)).status).toBe(409);
    expect(await own.listWork()).toEqual([]);
    const target = `/agent/v1/reads/${id}/answer`;
    expect((await stranger.call('PUT', target, answer(1, { by: 'stranger' }))).status).toBe(403);
    expect((await own.call('PUT', target, answer(2, { by: 'another' }))).status).toBe(409);
    expect((await own.call('PUT', target, { take: 1, part: 500, last: true, data: '' })).status).toBe(400);
    expect((await own.call('PUT', target, answer(1, { by: 'own', count: 2 }))).status).toBe(204);
    const answered = await asked;
    expect([answered.status, await answered.text()]).toEqual([200, '{"by":"own","count":2}']);
    // Who waited has it: nothing of it is left.
    expect((await own.call('PUT', target, answer(1, {}))).status).toBe(403);
  });

  test('of an agent that answers nonsense are refused', async () => {
    const own = await world.open(['nonsense']);
    const spaces = Buffer.alloc(40 * 2 ** 20, 0x20);
    const answers = ['no JSON', '["no object"]', spaces, '['.repeat(5_000)].map((each) => gzipSync(each));
    for (const bytes of [Buffer.from('no gzip'), ...answers]) {
      const asked = read('/manifests/nonsense/default/configMap conf');
      const id = await waitForRead(own);
      await own.call('POST', `/agent/v1/reads/${id}/lease`);
      const told = await own.call('PUT', `/agent/v1/reads/${id}/answer`, toPart(1, bytes));
      expect(told.status).toBe(204);
      expect(await asked).toEqual({ status: 503, text: expect.stringMatching(/gent.* answered/) });
    }
  });

  test('are refused at once where no agent is connected', async () => {
    const path = (account: string) => `/manifests/${account}/default/configMap conf`;
    const none = await read(path('deserted'));
    expect(none.status).toBe(503);
    expect(none.text).toContain('"No agent of account deserted is connected; none was seen in the last day"');
    await (await world.open(['deserted'])).close();
    const left = await read(path('deserted'));
    expect(left.status).toBe(503);
    expect(left.text).toContain(
      '"No agent of account deserted is connected; the last one, test, was seen at 20',
    );
    expect((await read(path('no-such'))).status).toBe(404);
  });

  /** Deploys a Deployment and a ConfigMap, and waits until the Deployment is stable. */
  async function deployWeb(ns: string): Promise<void> {
    const web = toDeployment(ns, 'web');
    const deployWeb = {
      ...{ account: 'edge', moniker: { app: 'shop' } },
      manifests: [{ ...web, spec: { ...web.spec, replicas: 2 } }],
    };
    const operations = [{ deployManifest: deployWeb }, toDeploy('edge', ns, ['conf'])];
    const id = await world.system.postOperations(operations);
    const task = await world.system.waitForTask(id, { timeoutMs: timeout });
    expect(task.status.failed).toBe(false);
    await expect
      .poll(async () => (await read(`/manifests/direct/${ns}/deployment web`)).text)
      .toContain('"stable":{"state":true');
  }
});

/** An answer without what tells the account, and when it was. */
function toComparable({ status, text }: Answer, account: string): Answer {
  return {
    status,
    text: text
      .replaceAll(new RegExp(`\\b${account}\\b`, 'g'), 'ACCOUNT')
      .replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":""'),
  };
}

function toJob(name: string): object {
  const annotations = {
    'kubecluster.test/outcome': 'succeed',
    'kubecluster.test/logs': 'SPINNAKER_PROPERTY_colour=green',
  };
  const containers = [{ name: 'main', image: 'registry.test/job:1' }];
  const template = { metadata: { annotations }, spec: { restartPolicy: 'Never', containers } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template } };
}

async function findPod(namespace: string, job: string): Promise<string> {
  const target = `/api/v1/namespaces/${namespace}/pods?labelSelector=job-name%3D${job}`;
  const { items } = (await requestApi('GET', target)) as { items: { metadata: { name: string } }[] };
  return items[0]?.metadata.name ?? '';
}
