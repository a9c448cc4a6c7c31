import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createTokenSigner, startAgent, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '../../support/cluster/cluster.ts';
import type { System } from '../../support/system/system.ts';

const taskMs = 60_000;
const testMs = 240_000;

/** What a route answered. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

describeWithCluster('live reads through an agent', (cluster) => {
  test(
    'are those of a direct account, to the letter',
    async () => {
      await using namespace = await createNamespace('reads');
      const signer = await createTokenSigner();
      const direct = { name: 'direct', kubeconfigFile: cluster.kubeconfig };
      await using world = await startWorld([toAgentAccount('edge', signer), direct]);
      const { system } = world;
      await using agent = await startAgent({
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
      });
      const ns = namespace.name;
      const id = await system.postOperations([deployWeb(ns), toDeploy('edge', ns, ['conf'])]);
      const task = await system.waitForTask(id, { timeoutMs: taskMs });
      expect(task.status.failed).toBe(false);
      // Random text: it takes several parts though it is packed.
      const text = randomBytes(600_000).toString('base64');
      await createObject(ns, 'configmaps', { metadata: { name: 'large' }, data: { text } });
      await createObject(ns, 'secrets', { metadata: { name: 'code' }, stringData: { word: 'planted' } });
      await expect
        .poll(async () => (await read(system, `/manifests/direct/${ns}/deployment web`)).text, {
          timeout: taskMs,
        })
        .toContain('"stable":{"state":true');

      const paths = [
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
      ];
      const statuses: number[] = [];
      for (const path of paths) {
        const [remote, near] = [
          await read(system, path.replace('{a}', 'edge')),
          await read(system, path.replace('{a}', 'direct')),
        ];
        expect([path, toComparable(remote, 'edge')]).toEqual([path, toComparable(near, 'direct')]);
        statuses.push(remote.status);
      }
      expect(statuses.slice(0, 7)).toEqual(Array(7).fill(200));
      expect(statuses[7]).toBe(404);
      const web = await read(system, `/manifests/edge/${ns}/deployment web`);
      // Java takes 2 for another type than 2.0.
      expect(web.text).toContain('"replicas":2.0');
      expect(JSON.parse(web.text)).toMatchObject({
        account: 'edge',
        status: { stable: { state: true } },
        manifest: { metadata: { uid: await getUid(`/apis/apps/v1/namespaces/${ns}/deployments/web`) } },
      });
      expect(agent.log).not.toContain('planted');
      expect(await system.readLog()).not.toContain('planted');
    },
    testMs,
  );

  test(
    'show jobs, what they write, and end them',
    async () => {
      await using namespace = await createNamespace('reads');
      const signer = await createTokenSigner();
      const direct = { name: 'direct', kubeconfigFile: cluster.kubeconfig };
      await using world = await startWorld([toAgentAccount('edge', signer), direct]);
      const { system } = world;
      await using _ = await startAgent({
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
      });
      const ns = namespace.name;
      await requestApi('POST', `/apis/batch/v1/namespaces/${ns}/jobs`, toJob('smoke'));
      const job = `/applications/shop/jobs/{a}/${ns}/job smoke`;
      await expect
        .poll(async () => (await read(system, job.replace('{a}', 'direct'))).text, { timeout: taskMs })
        .toContain('"jobState":"Succeeded"');
      await expect
        .poll(async () => (await read(system, job.replace('{a}', 'edge'))).status, { timeout: taskMs })
        .toBe(200);
      const pod = await findPod(ns);
      for (const path of [
        job,
        `${job}/main`,
        `/applications/shop/kubernetes/pods/{a}/${ns}/${pod}/main`,
        `/instances/{a}/${ns}/pod ${pod}/console`,
      ]) {
        const [remote, near] = [
          await read(system, path.replace('{a}', 'edge')),
          await read(system, path.replace('{a}', 'direct')),
        ];
        expect([path, toComparable(remote, 'edge')]).toEqual([path, toComparable(near, 'direct')]);
        expect([path, remote.status]).toEqual([path, 200]);
      }
      expect((await read(system, `${job}/main`.replace('{a}', 'edge'))).text).toBe('{"colour":"green"}');

      const ended = await system.fetch(encodeURI(job.replace('{a}', 'edge')), { method: 'DELETE' });
      expect(ended.status).toBe(200);
      await expect
        .poll(() => findObject(`/apis/batch/v1/namespaces/${ns}/jobs/smoke`), { timeout: taskMs })
        .toBeUndefined();
      const again = await system.fetch(encodeURI(job.replace('{a}', 'edge')), { method: 'DELETE' });
      expect([again.status, await again.text()]).toEqual([
        404,
        expect.stringContaining('job smoke) not found'),
      ]);
    },
    testMs,
  );
});

describe('live reads', () => {
  test(
    'are given to agents of their account alone',
    async () => {
      const [signer, other] = [
        await createTokenSigner(),
        await createTokenSigner('system:serviceaccount:other:agent'),
      ];
      await using world = await startWorld([toAgentAccount('edge', signer), toAgentAccount('other', other)]);
      const { system } = world;
      const own = await openSession(system, await signer.sign(), 'edge');
      const stranger = await openSession(system, await other.sign(), 'other');
      // Not by `read`, which holds answers against the contract.
      const asked = fetch(new URL('/manifests/edge/default/configMap%20conf', system.url));
      // A test that fails before it is answered leaves it alone.
      asked.catch(() => undefined);
      const id = await waitForRead(own);
      const answer = (take: number, value: unknown) => ({
        ...{ take, part: 0, last: true },
        data: gzipSync(JSON.stringify(value)).toString('base64'),
      });

      expect((await stranger.call('GET', stranger.work)).body['work']).toEqual([]);
      expect((await stranger.call('POST', `/agent/v1/reads/${id}/lease`)).status).toBe(403);
      expect((await own.call('POST', '/agent/v1/reads/no-such/lease')).status).toBe(403);
      const taken = await own.call('POST', `/agent/v1/reads/${id}/lease`);
      expect(taken).toMatchObject({
        status: 200,
        body: { id, account: 'edge', method: 'manifests.get', take: 1 },
      });
      expect((await own.call('POST', `/agent/v1/reads/${id}/lease`)).status).toBe(409);
      expect((await own.call('GET', own.work)).body['work']).toEqual([]);
      const target = `/agent/v1/reads/${id}/answer`;
      expect((await stranger.call('PUT', target, answer(1, { by: 'stranger' }))).status).toBe(403);
      expect((await own.call('PUT', target, answer(2, { by: 'another' }))).status).toBe(409);
      expect((await own.call('PUT', target, { take: 1, part: 500, last: true, data: '' })).status).toBe(400);
      expect((await own.call('PUT', target, answer(1, { by: 'own', count: 2 }))).status).toBe(204);
      const answered = await asked;
      expect([answered.status, await answered.text()]).toEqual([200, '{"by":"own","count":2}']);
      // Who waited has it: nothing of it is left.
      expect((await own.call('PUT', target, answer(1, {}))).status).toBe(403);
    },
    testMs,
  );

  test(
    'of an agent that answers nonsense are refused',
    async () => {
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)]);
      const { system } = world;
      const own = await openSession(system, await signer.sign(), 'edge');
      const answers = [
        Buffer.from('no gzip'),
        gzipSync('no JSON'),
        gzipSync('["no object"]'),
        gzipSync(Buffer.alloc(40 * 2 ** 20, 0x20)),
        gzipSync('['.repeat(5_000)),
      ];
      for (const bytes of answers) {
        const asked = read(system, '/manifests/edge/default/configMap conf');
        const id = await waitForRead(own);
        await own.call('POST', `/agent/v1/reads/${id}/lease`);
        const body = { take: 1, part: 0, last: true, data: bytes.toString('base64') };
        expect((await own.call('PUT', `/agent/v1/reads/${id}/answer`, body)).status).toBe(204);
        const { status, text } = await asked;
        expect([status, text]).toEqual([503, expect.stringMatching(/gent.* answered/)]);
      }
    },
    testMs,
  );

  test(
    'are refused at once where no agent is connected',
    async () => {
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)]);
      const { system } = world;
      const none = await read(system, '/manifests/edge/default/configMap conf');
      expect(none.status).toBe(503);
      expect(JSON.parse(none.text)['message']).toBe(
        'No agent of account edge is connected; none was seen in the last day',
      );
      const own = await openSession(system, await signer.sign(), 'edge');
      await own.call('DELETE', `/agent/v1/sessions/${own.session}`);
      const left = await read(system, '/manifests/edge/default/configMap conf');
      expect([left.status, JSON.parse(left.text)['message']]).toEqual([
        503,
        expect.stringMatching(/^No agent of account edge is connected; the last one, test, was seen at 20/),
      ]);
      expect((await read(system, '/manifests/no-such/default/configMap conf')).status).toBe(404);
    },
    testMs,
  );
});

async function read(system: System, path: string): Promise<Answer> {
  const answer = await system.fetch(encodeURI(path));
  return { status: answer.status, text: await answer.text() };
}

/** An answer without what tells the account, and when it was. */
function toComparable({ status, text }: Answer, account: string): Answer {
  return {
    status,
    text: text
      .replaceAll(new RegExp(`\\b${account}\\b`, 'g'), 'ACCOUNT')
      .replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":""'),
  };
}

function deployWeb(namespace: string): object {
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'registry.test/web:1' }] },
      },
    },
  };
  return { deployManifest: { account: 'edge', moniker: { app: 'shop' }, manifests: [manifest] } };
}

function toJob(name: string): object {
  const annotations = {
    'kubecluster.test/outcome': 'succeed',
    'kubecluster.test/logs': 'SPINNAKER_PROPERTY_colour=green',
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      template: {
        metadata: { annotations },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.test/job:1' }] },
      },
    },
  };
}

async function createObject(namespace: string, resource: string, object: object): Promise<void> {
  await requestApi('POST', `/api/v1/namespaces/${namespace}/${resource}`, object);
}

async function getUid(target: string): Promise<string | undefined> {
  return ((await findObject(target)) as { metadata?: { uid?: string } } | undefined)?.metadata?.uid;
}

async function findPod(namespace: string): Promise<string> {
  const pods = (await requestApi('GET', `/api/v1/namespaces/${namespace}/pods`)) as {
    items: { metadata: { name: string } }[];
  };
  return pods.items[0]?.metadata.name ?? '';
}

/** An agent that the test plays itself. */
interface PlayedAgent {
  readonly session: string;
  /** Path of its work. */
  readonly work: string;
  call(
    method: string,
    target: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } }>;
}

async function openSession({ url }: System, proof: string, account: string): Promise<PlayedAgent> {
  const callWith = async (token: string, [method, target, body]: [string, string, (object | undefined)?]) => {
    const answer = await fetch(new URL(target, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  };
  const hello = {
    ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
    accounts: [{ name: account }],
  };
  const { body } = await callWith(proof, ['POST', '/agent/v1/sessions', hello]);
  const [session, token] = [String(body.session), String(body.token)];
  return {
    session,
    work: `/agent/v1/sessions/${session}/work`,
    call: (...call) => callWith(token, call),
  };
}

/** Asks for work until there is a read. */
async function waitForRead(agent: PlayedAgent): Promise<string> {
  let id = '';
  await expect
    .poll(
      async () => {
        const { body } = await agent.call('GET', agent.work);
        const [first] = body['work'] as { kind: string; id: string }[];
        id = first?.kind === 'READ' ? first.id : '';
        return id;
      },
      { timeout: taskMs },
    )
    .not.toBe('');
  return id;
}
