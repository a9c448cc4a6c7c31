import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { CoreV1Api } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { getPath } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { scanTasks } from '#test/support/engines/stores.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { itLocally, startSubject } from '#test/support/system/subject.ts';
import { type Subject, type System, startSystem } from '#test/support/system/system.ts';
import { type PlantedConfig, PlantedSecrets, startEchoHost, writePlantedConfig } from './planted-secrets.ts';

const planted = 'planted-secret-0815';
const encoded = Buffer.from(planted).toString('base64');
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

describeWithCluster('secrets', (cluster) => {
  it('reach the cluster, and no task, event, log or stored item', async () => {
    await using namespace = await createNamespace('secrets');
    await using system = await startSubject({
      kubeconfig: cluster.kubeconfig,
      args: ['--log-level', 'DEBUG'],
    });
    const tell = { namespace: namespace.name, account: system.accounts[0] ?? '' };

    const tasks = await Promise.all([
      deploy(system, { ...tell, name: 'good', secret: { data: { key: encoded } } }),
      deploy(system, { ...tell, name: 'text', secret: { stringData: { key: planted } } }),
      // Refused by the API server, whose words may quote what it refuses.
      deploy(system, { ...tell, name: 'Bad_Name', secret: { data: { key: encoded } } }),
      deploy(system, {
        ...tell,
        name: 'bad-field',
        secret: { data: { key: encoded }, dada: { key: encoded } },
      }),
      deploy(system, { ...tell, name: 'not-base64', secret: { data: { key: `${planted}!` } } }),
      deploy(system, { ...tell, name: 'bad-type', secret: { data: planted } }),
    ]);
    const refused = await system.fetch('/kubernetes/ops', { method: 'POST', body: `[{"${planted}` });
    await system.idle();

    expect(tasks.map((task) => /"failed":true/.test(task))).toEqual([false, false, true, true, true, true]);
    const live = await openApi(CoreV1Api).listNamespacedSecret({ namespace: namespace.name });
    expect(live.items.map(({ data }) => data?.['key'])).toEqual([encoded, encoded]);
    const events = await system.readEvents();
    const items = await scanTasks(system.stores);
    // Payloads are deleted once their task has ended; the tasks are there.
    expect(items).toContain('Bad_Name');
    const token = /token: (\S+)/.exec(await readFile(cluster.kubeconfig, 'utf8'))?.[1] ?? cluster.token;
    const places = {
      tasks: tasks.join('\n'),
      refusal: await refused.text(),
      events: JSON.stringify(events),
      log: await system.readLog(),
      items,
    };
    for (const [place, text] of Object.entries(places)) {
      expect([place, text.includes(planted), text.includes(encoded), text.includes(token)]).toEqual([
        place,
        false,
        false,
        false,
      ]);
    }
  });

  itLocally('its accounts are those of one installation')(
    'of accounts, artifacts, headers and Secrets are seen by nobody, whatever fails',
    async () => {
      await using namespace = await createNamespace('planted');
      await using dir = await makeTempDir();
      await using host = await startEchoHost();
      const secrets = new PlantedSecrets();
      const config = await writePlantedConfig({
        dir: dir.path,
        secrets,
        kubeconfig: cluster.kubeconfig,
        artifactOrigin: new URL(host.url).origin,
      });
      await using system = await startSystem({
        config: [config.file],
        args: ['--log-level', 'debug'],
        env: { PLANTED_ENVIRONMENT: secrets.plant('environment') },
      });
      const answers = new Recorder(system);

      const work = { answers, secrets, namespace: namespace.name };
      await failAccounts(work, config);
      await failArtifacts(work, config, host.url);
      await failOperations(work);
      await sendHeaders(work);
      await readEverything(work);
      await expect.poll(() => countFailedAgents(system)).toBeGreaterThan(10);
      await system.idle();

      expect(secrets.count).toBeGreaterThanOrEqual(30);
      expect(host.seen.join()).toContain(
        Buffer.from(`${secrets.plant('http-user')}:`)
          .toString('base64')
          .slice(0, -3),
      );
      // What plugins say goes to the log, and nowhere else.
      const log = await system.readLog();
      const said = ['exec-stderr', 'exec-killed', 'exec-variable', 'exec-argument', 'environment'];
      expect(secrets.findIn(log)).toEqual(expect.arrayContaining(['exec-stderr', 'exec-killed']));
      const { tasksTable: _, ...stores } = system.stores;
      const tables = await Promise.all(
        ['tasks', 'cache'].map((tasksTable) => scanTasks({ ...stores, tasksTable })),
      );
      expect(tables.join()).toContain('bad-base64');
      const places = {
        log: secrets.findIn(log, said),
        events: secrets.findIn(JSON.stringify(await system.readEvents())),
        tables: secrets.findIn(tables.map(unpack).join()),
        answers: [...answers.texts]
          .map(([call, text]) => [call, ...secrets.findIn(text)])
          .filter((found) => found.length > 1),
      };
      expect(places).toEqual({ log: [], events: [], tables: [], answers: [] });
      const revealed = await system.fetch(`/manifests/good/${namespace.name}/secret%20good`);
      expect(secrets.findIn(await revealed.text())).toContain('data');
      const masked = await system.fetch(`/manifests/restricted/${namespace.name}/secret%20good`);
      const text = await masked.text();
      expect(text).toContain('******');
      expect(secrets.findIn(text)).toEqual([]);
    },
  );

  itLocally('its data lies on this machine alone')(
    'no other user of the machine can read the data',
    async () => {
      await using system = await startSystem({ kubeconfig: cluster.kubeconfig });
      await system.idle();
      const modes = await listModes(system.dataDir);
      expect(modes.length).toBeGreaterThan(1);
      expect(modes.filter(({ mode }) => (mode & 0o077) !== 0)).toEqual([]);
    },
  );
});

/** Calls the API, and keeps what it answers by the call. */
class Recorder {
  readonly texts = new Map<string, string>();
  readonly system: System;

  constructor(system: System) {
    this.system = system;
  }

  async call(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    const response = await this.system.fetch(path, init);
    const text = await response.text();
    this.texts.set(
      `${init.method ?? 'GET'} ${path} ${this.texts.size}`,
      `${JSON.stringify([...response.headers])} ${text}`,
    );
    return { status: response.status, text };
  }

  async operate(operation: object): Promise<string> {
    const body = JSON.stringify([operation]);
    const { status, text } = await this.call('/kubernetes/ops', { method: 'POST', body });
    if (status !== 200) return text;
    const { id } = JSON.parse(text);
    await this.system.waitForTask(id, { timeoutMs: 60_000 });
    return (await this.call(`/task/${id}`)).text;
  }
}

interface PlantedWork {
  readonly answers: Recorder;
  readonly secrets: PlantedSecrets;
  readonly namespace: string;
}

async function failAccounts(
  { answers, secrets, namespace }: PlantedWork,
  { broken }: PlantedConfig,
): Promise<void> {
  const data = { key: toBase64(secrets.plant('unsent')) };
  const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'unsent', namespace }, data };
  await Promise.all(
    broken.map(async (account) => {
      const read = await answers.call(`/manifests/${account}/${namespace}/secret%20x`);
      const task = await answers.operate({
        deployManifest: { account, moniker: { app: 'planted' }, manifests: [manifest] },
      });
      const consoleOutput = await answers.call(`/instances/${account}/${namespace}/pod%20x/console`);
      expect([account, read.status >= 400, /"failed":true|errors/.test(task)]).toEqual([account, true, true]);
      expect(consoleOutput.text).toBeDefined();
    }),
  );
}

/** Fetches artifacts that are refused, by a host that says all it was told. */
async function failArtifacts(
  { answers, secrets }: PlantedWork,
  { artifactAccounts }: PlantedConfig,
  url: string,
): Promise<void> {
  const withUser = url.replace('://', `://someone:${secrets.plant('url-password')}@`);
  for (const { name: artifactAccount, type } of artifactAccounts) {
    for (const reference of [
      `${url}/a`,
      `${withUser}/a?token=${secrets.plant('url-token')}`,
      'http://127.0.0.1:1/',
    ]) {
      const body = JSON.stringify({ type, artifactAccount, reference, version: 'main' });
      const { status } = await answers.call('/artifacts/fetch', { method: 'PUT', body });
      expect([reference, status >= 400]).toEqual([reference, true]);
    }
  }
}

/** Writes Secrets that are good, and some that API servers quote in their refusals. */
async function failOperations(work: PlantedWork): Promise<void> {
  const { answers, secrets, namespace } = work;
  const plant = (name: string) => secrets.plant(name);
  const create = (name: string, more: object, annotations: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      annotations: { 'strategy.spinnaker.io/versioned': 'false', ...annotations },
    },
    ...more,
  });
  const deploy = (manifest: object) =>
    answers.operate({
      deployManifest: { account: 'good', moniker: { app: 'planted' }, manifests: [manifest] },
    });
  const good = create(
    'good',
    { data: { key: toBase64(plant('data')) }, stringData: { text: plant('string-data') } },
    { 'kubernetes.io/change-cause': `kubectl create secret --from-literal=key=${plant('data')}` },
  );
  const done = await Promise.all([
    deploy(good),
    answers.operate({
      runJob: {
        account: 'good',
        application: 'planted',
        manifest: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: '-', namespace }, spec: {} },
      },
    }),
  ]);
  expect(done.map((task) => /"failed":true/.test(task))).toEqual([false, true]);
  const serverSide = { 'strategy.spinnaker.io/server-side-apply': 'true' };
  const refused = [
    create('bad-base64', { data: { key: `${plant('bad-base64')}!` } }),
    create(
      'bad-base64-replaced',
      { data: { key: `${plant('bad-replace')}!` } },
      { 'strategy.spinnaker.io/replace': 'true' },
    ),
    create('no-map', { data: plant('no-map') }),
    create('no-map-either', { data: plant('no-map-server-side') }, serverSide),
    create('list', { stringData: { key: [plant('list')] } }),
    create('good', { data: { key: { inner: plant('nested') } } }, serverSide),
    create('good', { type: plant('type') }),
    create('bad-label', { metadata: { name: 'bad-label', namespace, labels: { a: `${plant('label')} !` } } }),
    create('masked', { data: { key: '******', other: toBase64(plant('beside-mask')) } }),
    create(
      'last-applied',
      { data: { key: 'x!' } },
      { [lastApplied]: JSON.stringify({ data: { key: toBase64(plant('last-applied')) } }) },
    ),
  ];
  const tasks = await Promise.all(refused.map(deploy));
  expect(tasks.map((task) => /"failed":true|holds the mask/.test(task))).toEqual(refused.map(() => true));
  await failPatches(work);
}

/** Patches of all three kinds that do not apply: the API server repeats the patch, or the whole Secret. */
async function failPatches({ answers, secrets, namespace }: PlantedWork): Promise<void> {
  const plant = (name: string) => secrets.plant(name);
  const patches: [string, unknown][] = [
    ['strategic', { data: { key: `${plant('strategic')}!` } }],
    ['strategic', { data: { $patch: plant('directive') } }],
    ['merge', { data: { key: `${plant('merge')}!` } }],
    ['merge', { data: plant('merge-text') }],
    ['json', [{ op: 'replace', path: '/data/key', value: `${plant('json')}!` }]],
    ['json', [{ op: 'add', path: '/immutable', value: plant('json-type') }]],
    ['json', [{ op: 'add', path: '/data/none/x', value: plant('json-misfit') }]],
  ];
  for (const [mergeStrategy, patchBody] of patches) {
    const task = await answers.operate({
      patchManifest: {
        account: 'good',
        manifestName: 'secret good',
        location: namespace,
        patchBody,
        options: { mergeStrategy, record: true },
      },
    });
    expect([patchBody, /"failed":true/.test(task)]).toEqual([patchBody, true]);
  }
  const live = await requestApi('GET', `/api/v1/namespaces/${namespace}/secrets/good`);
  expect(getPath(live, 'data', 'key')).toBe(toBase64(plant('data')));
}

/** Requests with credentials of the caller, good and bad ones. */
async function sendHeaders({ answers, secrets }: PlantedWork): Promise<void> {
  const headers = {
    authorization: `Bearer ${secrets.plant('authorization')}`,
    cookie: `SESSION=${secrets.plant('cookie')}`,
    'x-api-key': secrets.plant('api-key'),
    'proxy-authorization': `Basic ${toBase64(secrets.plant('proxy-authorization'))}`,
  };
  for (const [method, path, body] of [
    ['GET', '/credentials', undefined],
    ['GET', '/nowhere', undefined],
    ['POST', '/kubernetes/ops', `[{"${secrets.plant('bad-body')}`],
    [
      'POST',
      '/kubernetes/ops',
      JSON.stringify([{ deployManifest: { account: 'good', manifests: secrets.plant('bad-field') } }]),
    ],
  ] as const) {
    await answers.call(path, { method, headers, ...(body !== undefined && { body }) });
  }
}

async function readEverything({ answers, namespace }: PlantedWork): Promise<void> {
  for (const path of [
    '/credentials?expand=true',
    '/credentials/good',
    '/cache/introspection',
    '/artifacts/credentials',
    '/applications/planted/rawResources',
    '/search?q=good&type=unclassified',
    '/task',
    '/health',
    `/manifests/good/${namespace}/secret%20none`,
  ]) {
    await answers.call(path);
  }
}

/** Accounts of which an agent told in the log that it failed. */
async function countFailedAgents(system: System): Promise<number> {
  const failed = (await system.readLog()).matchAll(/"message":"an agent failed".*?"account":"([^"]+)"/g);
  return new Set([...failed].map(([, account]) => account)).size;
}

/** Items of tables as text, with what is packed in them. Bytes are objects of numbers in it. */
function unpack(items: string): string {
  const packed = items.matchAll(/\{"0":\d+(?:,"\d+":\d+)*\}/g);
  const texts = [...packed].map(([text]) => {
    const bytes = Buffer.from(Object.values(JSON.parse(text) as { [index: string]: number }));
    try {
      return inflateRawSync(bytes).toString('utf8');
    } catch {
      return bytes.toString('utf8');
    }
  });
  return [items, ...texts].join('\n');
}

/** What may be done with a folder and all that is in it, sockets aside. */
async function listModes(root: string): Promise<{ path: string; mode: number }[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  return Promise.all(
    [root, ...paths.map((entry) => join(entry.parentPath, entry.name))].map(async (path) => ({
      path: path.slice(root.length),
      mode: (await stat(path)).mode & 0o777,
    })),
  );
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Deploys a Secret and answers its finished task as text. */
async function deploy(
  system: Subject,
  { account, namespace, name, secret }: { account: string; namespace: string; name: string; secret: object },
): Promise<string> {
  const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, ...secret };
  const description = { account, moniker: { app: 'secrets' }, manifests: [manifest], versioned: false };
  const id = await system.postOperations([{ deployManifest: description }]);
  await system.waitForTask(id);
  return (await system.fetch(`/task/${id}`)).text();
}
