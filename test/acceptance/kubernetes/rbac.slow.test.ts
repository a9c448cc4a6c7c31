import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { getPath, type JsonObject } from '#core/json.ts';
import { findLive, listNames } from '#test/shared/providers/kubernetes/live.ts';
import {
  createConfigMap,
  createJob,
  createManifest,
  createSecret,
  createService,
  createWorkload,
} from '#test/shared/providers/kubernetes/manifests.ts';
import {
  createNamespace,
  describeWithCluster,
  getCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type System, type SystemTask, startSystem } from '#test/support/system/system.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface ClusterRole {
  readonly metadata: { readonly name: string };
  readonly rules: readonly Rule[];
}

const folder = path.join(import.meta.dirname, '../../../docs/examples');
const rbacApi = '/apis/rbac.authorization.k8s.io/v1';
const deployVerbs = ['get', 'list', 'create', 'patch', 'update', 'delete'] as const;
const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };

/** The role and the binding that a page for operators shows. */
async function readExample(file: string): Promise<{ role: ClusterRole; binding: JsonObject }> {
  const text = await readFile(path.join(folder, file), 'utf8');
  const [role, binding] = parseAllDocuments(text).map((document) => document.toJS());
  return { role, binding };
}

/** An account whose service account is bound to an example's role; `omit` takes a verb away, or a resource. */
interface Binding {
  readonly account: string;
  readonly file: string;
  readonly omit?: string;
}

describeWithCluster('the roles of docs/examples', () => {
  const resources = new AsyncDisposableStack();
  let system: System;
  let ns: TestNamespace;
  let other: TestNamespace;

  beforeAll(async () => {
    const dir = resources.use(await makeTempDir());
    ns = resources.use(await createNamespace('rbac'));
    other = resources.use(await createNamespace('rbac-other'));
    const bindings: Binding[] = [
      { account: 'deployer', file: 'rbac-deploy.yaml' },
      { account: 'deployer', file: 'rbac-read.yaml' },
      { account: 'reader', file: 'rbac-read.yaml' },
      ...[...deployVerbs, 'deployments/scale', 'controllerrevisions'].map((omit) => ({
        account: `without-${omit.replace('/', '-')}`,
        file: 'rbac-deploy.yaml',
        omit,
      })),
      { account: 'reader-without-get', file: 'rbac-read.yaml', omit: 'get' },
      { account: 'reader-without-pods-log', file: 'rbac-read.yaml', omit: 'pods/log' },
      { account: 'reader-without-list', file: 'rbac-read.yaml', omit: 'list' },
    ];
    const accounts = [...new Set(bindings.map(({ account }) => account))];
    for (const account of accounts) await createServiceAccount(account);
    for (const binding of bindings) await bind(binding);
    const kubeconfig = path.join(dir.path, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify(await createKubeconfig(accounts)));
    system = resources.use(await startSystem({ kubeconfig }));
  });
  afterAll(() => resources.disposeAsync());

  async function createServiceAccount(name: string): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
    await requestApi('POST', `/api/v1/namespaces/${ns.name}/serviceaccounts`, object);
  }

  /** Applies an example under names of this test's own, for one service account, and waits until it counts. */
  async function bind({ account, file, omit }: Binding): Promise<void> {
    const { role, binding } = await readExample(file);
    const name = `${role.metadata.name}-${ns.name}-${account}`;
    const isWide = binding.kind === 'ClusterRoleBinding';
    const scope = isWide ? rbacApi : `${rbacApi}/namespaces/${ns.name}`;
    const plural = isWide ? 'clusterrolebindings' : 'rolebindings';
    const subjects = [{ kind: 'ServiceAccount', name: account, namespace: ns.name }];
    const roleRef = { ...(binding.roleRef as JsonObject), name };
    const made = { ...role, metadata: { name }, rules: omitFrom(role.rules, omit) };
    await requestApi('POST', `${rbacApi}/clusterroles`, made);
    resources.defer(() => removeQuietly(`${rbacApi}/clusterroles/${name}`));
    await requestApi('POST', `${scope}/${plural}`, { ...binding, metadata: { name }, roleRef, subjects });
    if (isWide) resources.defer(() => removeQuietly(`${scope}/${plural}/${name}`));
    const verb = role.rules[0]?.verbs.find((each) => each !== omit);
    while (!(await isAllowed(account, String(verb)))) await sleep(20);
  }

  async function isAllowed(account: string, verb: string): Promise<boolean> {
    const review = (await requestApi('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: `system:serviceaccount:${ns.name}:${account}`,
        resourceAttributes: { namespace: ns.name, verb, group: '', resource: 'configmaps' },
      },
    })) as { status: { allowed: boolean } };
    return review.status.allowed;
  }

  async function createKubeconfig(accounts: readonly string[]): Promise<JsonObject> {
    const { server, caFile } = getCluster();
    const users = await Promise.all(
      accounts.map(async (name) => ({ name, user: { token: await requestToken(name) } })),
    );
    const contexts = accounts.map((name) => ({
      name,
      context: { cluster: 'test', user: name, namespace: ns.name },
    }));
    const authority = (await readFile(caFile)).toString('base64');
    const clusters = [{ name: 'test', cluster: { server, 'certificate-authority-data': authority } }];
    return { apiVersion: 'v1', kind: 'Config', clusters, users, contexts };
  }

  async function requestToken(account: string): Promise<string> {
    const target = `/api/v1/namespaces/${ns.name}/serviceaccounts/${account}/token`;
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    return ((await requestApi('POST', target, request)) as { status: { token: string } }).status.token;
  }

  async function run(operation: object): Promise<SystemTask> {
    return system.waitForTask(await system.postOperations([operation]));
  }

  function deploy(account: string, ...manifests: readonly object[]): Promise<SystemTask> {
    return run({ deployManifest: { account, moniker: { app: account }, manifests } });
  }

  /** What a task failed with; empty when it didn't. */
  function findFailure({ status, resultObjects }: SystemTask): string {
    if (!status.failed) return '';
    return String(resultObjects.find(({ type }) => type === 'EXCEPTION')?.message);
  }

  async function* exerciseConfigMaps(account: string): AsyncGenerator<SystemTask> {
    const location = ns.name;
    const make = (name: string, value: string, annotations: JsonObject) =>
      createConfigMap(name, { a: value }, { namespace: location, annotations });
    const limited = { 'strategy.spinnaker.io/max-version-history': '1' };
    yield deploy(account, make(account, '1', limited));
    const second = await deploy(account, make(account, '2', limited));
    yield second;
    yield run({ cleanupArtifacts: { account, manifests: second.resultObjects[0]?.manifests } });
    for (const strategy of ['replace', 'recreate', 'server-side-apply', 'none']) {
      const annotations = { ...unversioned, [`strategy.spinnaker.io/${strategy}`]: 'true' };
      yield deploy(account, make(`${account}-${strategy}`, '1', annotations));
      yield deploy(account, make(`${account}-${strategy}`, '2', annotations));
    }
    const labelSelectors = { selectors: [{ kind: 'EQUALS', key: 'never', values: ['there'] }] };
    yield run({ deleteManifest: { account, location, kinds: ['configMap'], labelSelectors } });
  }

  async function* exerciseWorkloads(account: string): AsyncGenerator<SystemTask> {
    const location = ns.name;
    for (const kind of ['Deployment', 'StatefulSet'] as const) {
      const name = `${account}-${kind.toLowerCase()}`;
      const make = (tag: string) =>
        createWorkload(kind, name, { namespace: location, replicas: 1, image: `registry.test/web:${tag}` });
      const target = { account, location, manifestName: `${kind} ${name}` };
      for (const [index, tag] of ['1', '2'].entries()) {
        yield deploy(account, make(tag));
        await expect.poll(() => countRevisions(kind, name)).toBe(index + 1);
      }
      yield run({ undoRolloutManifest: { ...target, numRevisionsBack: 1 } });
      yield run({ scaleManifest: { ...target, replicas: 2 } });
      yield run({ rollingRestartManifest: target });
      if (kind === 'Deployment') {
        yield run({ pauseRolloutManifest: target });
        yield run({ resumeRolloutManifest: target });
      }
      yield run({ deleteManifest: target });
    }
    const job = createJob({ name: `${account}-job`, namespace: location });
    yield run({ runJob: { account, application: account, manifest: job } });
    yield run({ runJob: { account, application: account, manifest: job } });
  }

  async function countRevisions(kind: 'Deployment' | 'StatefulSet', name: string): Promise<number> {
    const plural = kind === 'Deployment' ? 'replicasets' : 'controllerrevisions';
    const target = `/apis/apps/v1/namespaces/${ns.name}/${plural}?labelSelector=app%3D${name}`;
    return ((await requestApi('GET', target)) as { items: object[] }).items.length;
  }

  async function findFailures(exercise: AsyncGenerator<SystemTask>): Promise<string[]> {
    const failures: string[] = [];
    for await (const task of exercise) failures.push(findFailure(task));
    return failures.filter((failure) => failure !== '');
  }

  async function getJson(target: string): Promise<{ status: number; body: JsonObject }> {
    const response = await system.fetch(target);
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  test('let an account deploy, scale, roll back, run Jobs, delete and clean up', async () => {
    expect(await findFailures(exerciseConfigMaps('deployer'))).toEqual([]);
    expect(await listNames(ns.name, 'configmaps')).toEqual(
      ['none', 'recreate', 'replace', 'server-side-apply']
        .map((strategy) => `deployer-${strategy}`)
        .concat('deployer-v001')
        .sort(),
    );
    expect(await findFailures(exerciseWorkloads('deployer'))).toEqual([]);
    expect(await findLive(ns.name, 'deployments/deployer-deployment')).toBeUndefined();
  });

  test('let an account turn traffic off and on', async () => {
    const [account, location] = ['deployer', ns.name];
    const annotations = {
      ...unversioned,
      'traffic.spinnaker.io/load-balancers': JSON.stringify(['service front']),
    };
    const target = { account, location, manifestName: 'replicaSet served' };
    const service = createService('front', { serves: 'front' }, { namespace: location });
    const workload = createWorkload('ReplicaSet', 'served', { namespace: location, annotations });
    expect(findFailure(await deploy(account, service, workload))).toBe('');
    expect(findFailure(await run({ disableManifest: target }))).toBe('');
    expect(findFailure(await run({ enableManifest: target }))).toBe('');
  });

  test.each([...deployVerbs])('need %s for deploying', async (verb) => {
    const failures = await findFailures(exerciseConfigMaps(`without-${verb}`));
    expect(failures.join('\n')).toMatch(new RegExp(`cannot ${verb} resource`));
  });

  test.each([
    { omitted: 'deployments/scale', verb: 'patch' },
    { omitted: 'controllerrevisions', verb: 'list' },
  ])('need $omitted for workloads', async ({ omitted, verb }) => {
    const failures = await findFailures(exerciseWorkloads(`without-${omitted.replace('/', '-')}`));
    expect(failures).toEqual([expect.stringContaining(`cannot ${verb} resource "${omitted}"`)]);
  });

  test('name resources and verbs that the API server knows', async () => {
    const roles = await Promise.all(['rbac-read.yaml', 'rbac-deploy.yaml'].map(readExample));
    const unknown: string[] = [];
    for (const { apiGroups, resources: named, verbs } of roles.flatMap(({ role }) => role.rules)) {
      const known = await listVerbs(apiGroups[0] ?? '');
      for (const resource of named) {
        for (const verb of verbs)
          if (!known.get(resource)?.includes(verb)) unknown.push(`${verb} ${resource}`);
      }
    }
    expect(unknown).toEqual([]);
  });

  test('let an account read manifests with events, and what applications there are', async () => {
    const manifests = [
      createWorkload('Deployment', 'shown', { namespace: ns.name, replicas: 1 }),
      createService('shown', { app: 'shown' }, { namespace: ns.name }),
    ];
    expect((await deploy('deployer', ...manifests)).status.failed).toBe(false);
    const target = `/manifests/reader/${ns.name}/deployment%20shown`;
    const readEvents = async () => (await getJson(target)).body.events;
    await expect.poll(readEvents).not.toEqual([]);
    const dynamic = `/manifests/reader/${ns.name}/deployment/cluster/deployer/deployment%20shown/dynamic/newest`;
    expect(await getJson(dynamic)).toMatchObject({ status: 200, body: { name: 'shown' } });
    const demand = { headers: { 'Cache-Control': 'no-cache' } };
    const listed = await system.fetch('/applications/deployer/clusters/reader', demand);
    expect(listed.status).toBe(200);
    expect(await listed.json()).toContainEqual(
      expect.objectContaining({ account: 'reader', name: 'deployment shown' }),
    );
    const unlisted = await system.fetch('/applications/deployer/clusters/reader-without-list', demand);
    expect(unlisted.status).toBe(404);
    expect((await getJson(target.replace('reader', 'reader-without-get'))).body.message).toMatch(
      /cannot get resource/,
    );
  });

  test('let an account read what a Job wrote', async () => {
    const annotations = { 'kubecluster.test/logs': 'SPINNAKER_PROPERTY_COLOR=blue' };
    const template = { metadata: { annotations }, spec: getPath(createJob({}), 'spec', 'template', 'spec') };
    const job = { ...createJob({ name: 'told', namespace: ns.name }), spec: { template } };
    const ran = await run({ runJob: { account: 'deployer', application: 'try', manifest: job } });
    expect(ran.status.failed).toBe(false);
    const target = `/applications/try/jobs/reader/${ns.name}/${encodeURIComponent('job told')}`;
    const readState = async () => (await getJson(target)).body.jobState;
    await expect.poll(readState).toBe('Succeeded');
    expect((await getJson(`${target}/main`)).body).toEqual({ color: 'blue' });
    const blind = `${target.replace('reader', 'reader-without-pods-log')}/main`;
    expect((await getJson(blind)).body).toEqual({});
  });

  test('let an account do nothing else', async () => {
    const elsewhere = createConfigMap('a', { a: '1' }, { namespace: other.name, annotations: unversioned });
    const role = createManifest('rbac.authorization.k8s.io/v1', 'Role', { name: 'a', namespace: ns.name });
    const wide = createManifest('v1', 'Namespace', { name: `${ns.name}-more` });
    for (const manifest of [elsewhere, role, wide]) {
      expect(findFailure(await deploy('deployer', manifest))).toMatch(/cannot (get|create) resource/);
    }
    expect(
      (await deploy('deployer', createSecret('hidden', 'x', { namespace: ns.name }))).status.failed,
    ).toBe(false);
    const secret = await getJson(`/manifests/reader/${ns.name}/secret%20hidden-v000`);
    expect(secret).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining('cannot get resource "secrets"') },
    });
    const written = deploy(
      'reader',
      createConfigMap('b', { a: '1' }, { namespace: ns.name, annotations: unversioned }),
    );
    expect(findFailure(await written)).toMatch(/cannot create resource/);
    expect(await findLive(other.name, 'configmaps/a')).toBeUndefined();
  });
});

function omitFrom(rules: readonly Rule[], omit: string | undefined): Rule[] {
  const keep = (names: readonly string[]): readonly string[] => names.filter((name) => name !== omit);
  return rules
    .map((rule) => ({ ...rule, resources: keep(rule.resources), verbs: keep(rule.verbs) }))
    .filter(({ resources, verbs }) => resources.length > 0 && verbs.length > 0);
}

async function listVerbs(group: string): Promise<Map<string, readonly string[]>> {
  const target = group === '' ? '/api/v1' : await getGroupPath(group);
  const list = (await requestApi('GET', target)) as {
    resources: { name: string; verbs: readonly string[] }[];
  };
  return new Map(list.resources.map(({ name, verbs }) => [name, verbs]));
}

async function getGroupPath(group: string): Promise<string> {
  const found = (await requestApi('GET', `/apis/${group}`)) as { preferredVersion: { groupVersion: string } };
  return `/apis/${found.preferredVersion.groupVersion}`;
}

async function removeQuietly(target: string): Promise<void> {
  await requestApi('DELETE', target).catch(() => undefined);
}
