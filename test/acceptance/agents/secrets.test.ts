import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { toAgentAccount } from '#test/support/agents/agent-process.ts';
import { type CachedWorld, openCachedWorld } from '#test/support/agents/cached-account.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { scanTasks } from '#test/support/engines/stores.ts';
import { makeTempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import type { SystemTask } from '#test/support/system/system.ts';
import { PlantedSecrets } from '../access/planted-secrets.ts';
import { type RecordedHub, recordHub } from './drills/recorded-hub.ts';

const taskMs = 90_000;

/** Calls whose answers hand a task to the agent that is to run it: what it deploys is in them. */
const leases = ['POST /agent/v1/tasks/*/lease'];

describeWithCluster('secrets of agents', (cluster) => {
  const stack = new AsyncDisposableStack();
  let namespace: TestNamespace;
  let world: CachedWorld;
  let hub: RecordedHub;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('agent-secrets'));
    world = stack.use(
      await openCachedWorld(['cached'], {
        args: ['--log-level', 'debug'],
        cache: { cacheAll: true },
        listOthers: (_, signer) =>
          ['edge', 'broken'].map((name) => ({
            ...toAgentAccount(name, signer),
            namespaces: [namespace.name],
          })),
      }),
    );
    hub = stack.use(await recordHub(world.system.url));
  });
  afterAll(() => stack.disposeAsync());

  async function deploy(account: string, name: string, secret: object): Promise<SystemTask> {
    const metadata = { name, namespace: namespace.name };
    const manifests = [{ apiVersion: 'v1', kind: 'Secret', metadata, ...secret }];
    const operation = { deployManifest: { account, moniker: { app: 'planted' }, manifests } };
    const id = await world.system.postOperations([operation]);
    return world.system.waitForTask(id, { timeoutMs: taskMs });
  }

  test(
    'are in no session, frame, commit, event, log, warning or stored item, whatever fails',
    async () => {
      const { system } = world;
      await using dir = await makeTempDir();
      const secrets = new PlantedSecrets();
      const proof = await world.signer.sign();
      secrets.add('proof', proof);
      secrets.add('cluster token', cluster.token);
      const broken = await writeBrokenKubeconfig(dir.path, secrets);
      await using agent = await world.start([], cluster.kubeconfig, {
        ...{ url: hub.url, token: proof },
        accounts: [
          { name: 'edge', kubeConfigFile: cluster.kubeconfig },
          { name: 'broken', kubeConfigFile: broken },
        ],
      });
      const planted = (name: string) => Buffer.from(secrets.plant(name)).toString('base64');
      const tasks = await Promise.all([
        deploy('edge', 'good', { data: { key: planted('data') } }),
        deploy('edge', 'text', { stringData: { key: secrets.plant('text') } }),
        // Refused by the API server, whose words may quote what it refuses.
        deploy('edge', 'bad-base64', { data: { key: `${secrets.plant('bad-base64')}!` } }),
        deploy('edge', 'bad-type', { data: secrets.plant('bad-type') }),
        deploy('broken', 'unsent', { stringData: { key: secrets.plant('unsent') } }),
      ]);
      const reads = await Promise.all(
        ['edge', 'broken'].map(async (account) =>
          (await system.fetch(`/manifests/${account}/${namespace.name}/secret%20no-such`)).text(),
        ),
      );
      await agent.kill('SIGTERM');

      expect(tasks.map(({ status }) => status.failed)).toEqual([false, false, true, true, true]);
      const welcome = hub.said.get('POST /agent/v1/sessions') ?? '';
      const token = /"token":"([^"]+)"/.exec(welcome)?.[1] ?? '';
      expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      // The agent was given what it deploys, by the one call that may hold it.
      expect(secrets.findIn(leases.map((call) => hub.said.get(call)).join())).toEqual(
        expect.arrayContaining(['data', 'text', 'bad-base64', 'bad-type', 'unsent']),
      );
      const places = {
        answers: JSON.stringify([tasks, reads]),
        events: JSON.stringify(await system.readEvents()),
        items: await scanTasks(system.stores),
        'log of Busdriver': await system.readLog(),
        warnings: listWarnings(agent.log),
        ...Object.fromEntries([...hub.said].filter(([call]) => !leases.includes(call))),
      };
      expect(Object.keys(places)).toEqual(
        expect.arrayContaining(['POST /agent/v1/sessions', 'POST /agent/v1/tasks/*/commits']),
      );
      expect(hub.said.get('GET /agent/v1/hints')).toContain('"t":"work"');
      expectNowhere(places, secrets);
      const { 'POST /agent/v1/sessions': _shown, ...others } = places as { readonly [place: string]: string };
      expect(Object.entries(others).filter(([, text]) => text.includes(token))).toEqual([]);
      // What plugins say goes to the log of the process that ran them, and nowhere else.
      expect(secrets.findIn(agent.log, ['exec-stderr'])).toEqual([]);
      expect(agent.log).not.toContain(token);
    },
    4 * taskMs,
  );

  test(
    'never leave the cluster where Secrets are kept cached',
    async () => {
      const { namespace } = world.use('cached');
      const secrets = new PlantedSecrets();
      const proof = await world.signer.sign();
      secrets.add('proof', proof);
      const planted = (name: string) => Buffer.from(secrets.plant(name)).toString('base64');
      const collection = `/api/v1/namespaces/${namespace}/secrets`;
      // As kubectl leaves it: what was applied, with its values.
      const applied = JSON.stringify({ kind: 'Secret', data: { key: planted('applied') } });
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied };
      const first = { metadata: { name: 'first', annotations }, data: { key: planted('listed') } };
      await requestApi('POST', collection, first);
      const forms: string[] = [];
      await using proxy = await startApiProxy(cluster, {
        async before({ path: target, accept }) {
          if (target.endsWith('/secrets')) forms.push(accept);
        },
      });
      await using agent = await world.start('cached', proxy.kubeconfig, { url: hub.url, token: proof });
      const cached = () => hub.said.get('POST /agent/v1/caches/cached/changes') ?? '';
      await expect.poll(cached, { timeout: taskMs }).toMatch(/"kind":"secret"[^}]*"name":"first"/);
      const second = { metadata: { name: 'second' }, data: { key: planted('watched') } };
      await requestApi('POST', collection, second);
      await expect.poll(cached, { timeout: taskMs }).toMatch(/"kind":"secret"[^}]*"name":"second"/);
      await agent.kill('SIGTERM');

      // The agent itself was told nothing but their metadata.
      expect(forms.length).toBeGreaterThan(1);
      expect(forms.filter((form) => !form.includes('as=PartialObjectMetadata'))).toEqual([]);
      const logs = { 'log of Busdriver': await world.system.readLog(), 'log of the agent': agent.log };
      expectNowhere({ ...Object.fromEntries(hub.said), ...logs }, secrets);
    },
    4 * taskMs,
  );
});

function expectNowhere(places: { readonly [place: string]: string }, secrets: PlantedSecrets): void {
  for (const [place, text] of Object.entries(places)) {
    expect([place, ...secrets.findIn(text)]).toEqual([place]);
  }
}

/** Messages of the log that Busdriver is told of when the session is renewed. */
function listWarnings(log: string): string {
  const lines = log
    .split('\n')
    .filter((line) => /"level":"(WARN|ERROR)"/.test(line))
    .map((line) => String((JSON.parse(line) as { message?: unknown }).message));
  return lines.join('\n');
}

/** A kubeconfig with secrets, whose user comes of a plugin that fails and tells of them. */
async function writeBrokenKubeconfig(dir: string, secrets: PlantedSecrets): Promise<string> {
  const plant = (name: string) => secrets.plant(name);
  const script = `echo "denied: ${plant('exec-stderr')}" >&2; exit 3`;
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    interactiveMode: 'Never',
    command: await writeProgram(path.join(dir, 'plugin'), script),
    args: ['--key', plant('exec-argument')],
    env: [{ name: 'EXEC_KEY', value: plant('exec-variable') }],
  };
  const user = { exec, token: plant('kubeconfig-token') };
  const file = path.join(dir, 'broken');
  await writeFile(file, toKubeconfig({ server: 'https://127.0.0.1:1' }, user), { mode: 0o600 });
  return file;
}
