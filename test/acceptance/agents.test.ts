import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  type TokenClaims,
  type TokenSigner,
  toAgentAccount,
} from '../support/agent-process.ts';
import { startApiProxy } from '../support/api-proxy.ts';
import { createNamespace, describeWithCluster, findObject, requestApi } from '../support/cluster.ts';
import { endLease } from '../support/end-lease.ts';
import { type System, type SystemTask, startSystem } from '../support/system.ts';
import { makeTempDir, type TempDir } from '../support/temp-dir.ts';

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

test(
  'agents are let in by what proves them, and by nothing else',
  async () => {
    const [signer, other] = [
      await createTokenSigner(),
      await createTokenSigner('system:serviceaccount:other:agent'),
    ];
    await using world = await startWorld([toAgentAccount('edge', signer), toAgentAccount('other', other)]);
    const { system } = world;
    const hello = (names: readonly string[]) => ({
      ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
      accounts: names.map((name) => ({ name })),
    });
    const open = (token: string, names: readonly string[] = ['edge']) =>
      call(system, { method: 'POST', target: '/agent/v1/sessions', token, body: hello(names) });
    const refused: readonly (readonly [string, TokenSigner, TokenClaims])[] = [
      ['a forged signature', await createTokenSigner(), {}],
      ['another audience', signer, { audience: 'https://kubernetes.default.svc' }],
      ['a token of the past', signer, { lifeSeconds: -120 }],
      ['another issuer', signer, { issuer: 'https://elsewhere.example' }],
      ['another service account', signer, { subject: 'system:serviceaccount:busdriver:default' }],
    ];
    for (const [what, by, claims] of refused) {
      const answer = await open(await by.sign(claims));
      expect([what, answer.status, answer.body['message']]).toEqual([
        what,
        401,
        'The token proves the agent of none of these accounts',
      ]);
    }
    // Of accounts that are none of its own it learns nothing but that.
    const welcome = await open(await signer.sign(), ['edge', 'other', 'no-such']);
    expect(welcome.status).toBe(200);
    expect(JSON.stringify(welcome.body)).not.toContain('other:agent');
    const grants = welcome.body['accounts'] as { name: string; operations: boolean; refused?: string }[];
    expect(grants.map(({ name, operations }) => [name, operations])).toEqual([
      ['edge', true],
      ['other', false],
      ['no-such', false],
    ]);
    expect(grants[1]?.refused).toBe(grants[2]?.refused?.replace('no-such', 'other'));

    const token = String(welcome.body['token']);
    const session = String(welcome.body['session']);
    const [own, foreign] = await Promise.all(
      ['edge', 'other'].map((account) => system.postOperations([toDeploy(account, 'default', ['x'])])),
    );
    const take = (id: string | undefined, by = token) =>
      call(system, {
        method: 'POST',
        target: `/agent/v1/tasks/${id}/lease`,
        token: by,
        body: { owner: 'me', attempts: 1 },
      });
    const work = () => call(system, { method: 'GET', target: `/agent/v1/sessions/${session}/work`, token });
    expect((await work()).body['work']).toEqual([{ kind: 'TASK', account: 'edge', id: own }]);
    expect((await take(foreign)).status).toBe(403);
    expect((await take('no-such-task')).status).toBe(403);
    expect((await take(own, await signer.sign())).status).toBe(401);
    expect((await take(own, `${token.slice(0, -4)}AAAA`)).status).toBe(401);
    const taken = await take(own);
    expect(taken.status).toBe(200);
    expect((await take(own)).body).toMatchObject({ status: 409, reason: 'held' });

    const second = await open(await other.sign(), ['other']);
    const stranger = String(second.body['token']);
    const commit = (by: string) =>
      call(system, {
        method: 'POST',
        target: `/agent/v1/tasks/${own}/commits`,
        token: by,
        body: { lease: taken.body['lease'], next: 'release', entries: [] },
      });
    expect((await commit(stranger)).status).toBe(403);
    const foreignWork = `/agent/v1/sessions/${session}/work`;
    expect((await call(system, { method: 'GET', target: foreignWork, token: stranger })).status).toBe(403);
    expect(
      (await call(system, { method: 'DELETE', target: `/agent/v1/sessions/${session}`, token })).status,
    ).toBe(204);
    expect([(await commit(token)).status, (await work()).status, (await take(own)).status]).toEqual([
      401, 401, 401,
    ]);
    expect(await system.readLog()).not.toContain(token);
  },
  testMs,
);

test(
  'agents need no token of those who call the API, and theirs opens nothing else',
  async () => {
    const signer = await createTokenSigner();
    await using dir = await makeTempDir();
    const tokenFile = path.join(dir.path, 'token');
    const secret = 'a-token-of-people-1234567890';
    await writeFile(tokenFile, secret, { mode: 0o600 });
    await using world = await startWorld([toAgentAccount('edge', signer)], ['--token-file', tokenFile]);
    const { system } = world;
    const hello = {
      ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
      accounts: [{ name: 'edge' }],
    };
    const open = (token: string, body: object = hello) =>
      call(system, { method: 'POST', target: '/agent/v1/sessions', token, body });
    const welcome = await open(await signer.sign());

    expect(welcome.status).toBe(200);
    const own = await call(system, {
      method: 'GET',
      target: '/credentials',
      token: String(welcome.body['token']),
    });
    expect(own.status).toBe(401);
    expect((await call(system, { method: 'GET', target: '/credentials', token: secret })).status).toBe(200);
    expect((await open(secret)).status).toBe(401);
    const odd = await open(await signer.sign(), { ...hello, agentId: 'a@b' });
    expect([odd.status, odd.body['errors']]).toEqual([
      400,
      ['agentId: expected letters, digits, dots, dashes and underscores'],
    ]);
    const later = await open(await signer.sign(), { ...hello, journalFormat: 2 });
    expect(later.body['accounts']).toMatchObject([{ name: 'edge', operations: false }]);
  },
  testMs,
);

test('agents are not served unless the settings say so', async () => {
  const signer = await createTokenSigner();
  await using world = await startWorld([toAgentAccount('edge', signer)], [], false);
  const { system } = world;
  expect(system.accounts).toEqual([]);
  expect(system.stderr).toContain(
    'kubernetes.accounts[0].agent: agents are served where busdriver.agents.enabled is true',
  );
  const answer = await call(system, {
    method: 'POST',
    target: '/agent/v1/sessions',
    token: await signer.sign(),
    body: {},
  });
  expect(answer.status).toBe(404);
});

/** A system with some accounts. */
interface World extends AsyncDisposable {
  readonly system: System;
}

async function startWorld(
  accounts: readonly object[],
  args: readonly string[] = [],
  enabled = true,
): Promise<World> {
  const dir: TempDir = await makeTempDir();
  const file = path.join(dir.path, 'clouddriver.yml');
  const agents = { enabled, limits: { pollIdleMs: 100, pollBusyMs: 50 } };
  await writeFile(file, JSON.stringify({ busdriver: { agents }, kubernetes: { accounts } }));
  const system = await startSystem({ config: [file], args });
  return {
    system,
    async [Symbol.asyncDispose]() {
      await system[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

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

function toDeploy(account: string, namespace: string, names: readonly string[]): object {
  const manifests = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, annotations: { 'strategy.spinnaker.io/versioned': 'false' } },
    data: { by: account },
  }));
  return { deployManifest: { account, moniker: { app: 'shop' }, manifests } };
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

interface AgentCall {
  readonly method: string;
  readonly target: string;
  readonly token: string;
  readonly body?: object;
}

/** Calls a route of agents, which is none of Spinnaker's API. */
async function call(
  { url }: System,
  { method, target, token, body }: AgentCall,
): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } }> {
  const answer = await fetch(new URL(target, url), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}
