import { expect, test } from 'vitest';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  type TokenSigner,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { startApiProxy } from '../../support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '../../support/cluster/cluster.ts';
import { endLease } from '../../support/engines/end-lease.ts';
import type { System, SystemTask } from '../../support/system/system.ts';

/** A deploy through an agent on a machine that does much else. */
const taskMs = 60_000;
const testMs = 240_000;

describeWithCluster('agents', (cluster) => {
  test(
    'run operations of a cluster that is not reached from here, by a token of that cluster',
    async () => {
      await using namespace = await createNamespace('agents');
      const signer = await readClusterSigner();
      const direct = { name: 'direct', kubeconfigFile: cluster.kubeconfig };
      await using world = await startWorld([toAgentAccount('edge', signer), direct]);
      const { system } = world;
      const token = await requestToken();
      await using _ = await startAgent({
        url: system.url,
        token,
        accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
      });

      const deploys = ['edge', 'direct'].map((account) =>
        deploy(system, { account, namespace: namespace.name }),
      );
      const [through, beside] = await Promise.all(deploys);

      expect(through?.status.failed).toBe(false);
      expect(await findObject(toPath(namespace.name, 'edge'))).toMatchObject({ data: { by: 'edge' } });
      // Its history and its results are those of any other.
      expect(toText(through)).toBe(toText(beside).replaceAll('direct', 'edge'));
      const events = await system.readEvents();
      const types = events
        .filter(({ detail }) => detail['taskId'] === through?.id)
        .map((each) => each['detail-type']);
      expect(types).toContain('TaskAccepted');
      expect(types.at(-1)).toBe('TaskCompleted');
    },
    testMs,
  );

  test(
    'go on with what one was killed at: each object is written once',
    async () => {
      await using namespace = await createNamespace('agents');
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)]);
      const { system } = world;
      let victim: AgentProcess | undefined;
      let writes = 0;
      const killed = Promise.withResolvers<void>();
      await using proxy = await startApiProxy(cluster, {
        async before({ method, path: target }) {
          if (method === 'GET' || !target.includes(namespace.name)) return;
          writes += 1;
          if (writes !== 3) return;
          await victim?.kill('SIGKILL');
          killed.resolve();
          throw new Error('the caller was killed');
        },
      });
      const start = async () =>
        startAgent({
          url: system.url,
          token: await signer.sign(),
          accounts: [{ name: 'edge', kubeConfigFile: proxy.kubeconfig }],
        });
      await using first = await start();
      victim = first;
      const names = ['a', 'b', 'c', 'd', 'e'];
      const id = await system.postOperations([toDeploy('edge', namespace.name, names)]);
      await killed.promise;
      await using _second = await start();
      await endLease(system.stores, id);
      const task = await system.waitForTask(id, { timeoutMs: taskMs });

      expect(task.status.failed).toBe(false);
      const written = proxy.calls.filter(({ method, written }) => method !== 'GET' && written !== undefined);
      expect(written.map((call) => call.written?.metadata.name).sort()).toEqual(names);
      expect(task.history.filter(({ status }) => status.startsWith('Submitting '))).toHaveLength(
        names.length,
      );
    },
    testMs,
  );

  test(
    'stop at a checkpoint when they are told to, and hand the task on at once',
    async () => {
      await using namespace = await createNamespace('agents');
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)]);
      const { system } = world;
      let first: AgentProcess | undefined;
      let stopped: Promise<number | null> | undefined;
      await using proxy = await startApiProxy(cluster, {
        async before({ method, path: target }) {
          if (method === 'GET' || !target.includes(namespace.name)) return;
          stopped ??= first?.kill('SIGTERM');
        },
      });
      const options = {
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: proxy.kubeconfig }],
      };
      await using one = await startAgent(options);
      first = one;
      const names = ['a', 'b', 'c', 'd', 'e'];
      const id = await system.postOperations([toDeploy('edge', namespace.name, names)]);
      await expect.poll(() => stopped, { timeout: taskMs }).toBeDefined();
      expect(await stopped).toBe(0);
      expect(one.log).toContain('task handed on to the next worker');
      expect(one.log).not.toMatch(/"level":"(WARN|ERROR)"/);
      const answer = await system.fetch(`/task/${id}`);
      expect(((await answer.json()) as SystemTask).status.completed).toBe(false);
      await using _ = await startAgent(options);
      // No lease has to lapse: the one that stopped has given it back.
      const task = await system.waitForTask(id, { timeoutMs: taskMs });

      expect(task.status.failed).toBe(false);
      const written = proxy.calls.filter(({ method, written }) => method !== 'GET' && written !== undefined);
      expect(written.map((call) => call.written?.metadata.name).sort()).toEqual(names);
    },
    testMs,
  );

  test(
    'lose nothing when Busdriver is killed: what was accepted is done after its next start',
    async () => {
      await using namespace = await createNamespace('agents');
      const signer = await createTokenSigner();
      const port = await findFreePort();
      await using world = await startWorld([toAgentAccount('edge', signer)], ['--port', String(port)]);
      const { system } = world;
      let isKilled = false;
      await using proxy = await startApiProxy(cluster, {
        async before({ method, path: target }) {
          if (isKilled || method === 'GET' || !target.includes(namespace.name)) return;
          isKilled = true;
          await system.kill('SIGKILL');
        },
      });
      await using _ = await startAgent({
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: proxy.kubeconfig }],
      });
      const names = ['a', 'b', 'c'];
      const running = await system.postOperations([toDeploy('edge', namespace.name, names)]);
      await expect.poll(() => isKilled, { timeout: taskMs }).toBe(true);
      await system.restart();
      const later = await system.postOperations([toDeploy('edge', namespace.name, ['later'])]);
      const tasks = await Promise.all(
        [running, later].map((id) => system.waitForTask(id, { timeoutMs: 2 * taskMs })),
      );

      expect(tasks.map(({ status }) => status.failed)).toEqual([false, false]);
      const written = proxy.calls.filter(({ method, written }) => method !== 'GET' && written !== undefined);
      expect(written.map((call) => call.written?.metadata.name).sort()).toEqual([...names, 'later']);
    },
    testMs,
  );

  test(
    'that do not come fail a task after its time, in words that say so',
    async () => {
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer, 1)]);
      const id = await world.system.postOperations([toDeploy('edge', 'default', ['never'])]);
      const task = await world.system.waitForTask(id, { timeoutMs: 150_000 });

      expect(task.status.failed).toBe(true);
      expect(task.resultObjects[0]?.['message']).toBe(
        'No agent of account edge was connected within 1 s; none was seen in the last day',
      );
    },
    testMs,
  );
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

async function deploy(
  system: System,
  { account, namespace }: { readonly account: string; readonly namespace: string },
): Promise<SystemTask> {
  const id = await system.postOperations([toDeploy(account, namespace, [account])]);
  return system.waitForTask(id, { timeoutMs: taskMs });
}

function toPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
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
