import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { toBase64, toKubeconfig } from '../client/scripted-server.ts';
import { createService, createWorkload } from '../manifests.ts';
import { type AgentBench, openAgentBench, readCached, readLive } from './caching-agent-bench.ts';

const openTable = useLocalTables();
const rbacApi = '/apis/rbac.authorization.k8s.io/v1';
const read = ['get', 'list', 'watch'];
const kinds = ['service', 'deployment'];
const minuteMs = 60_000;

/** What a role allows: verbs by resource. */
type Rights = Readonly<Record<string, readonly string[]>>;

describeWithCluster('a caching agent whose rights are few', (cluster) => {
  const resources = { stack: new AsyncDisposableStack() };
  let here: TestNamespace;
  let there: TestNamespace;
  let user: string;

  beforeEach(async () => {
    const stack = new AsyncDisposableStack();
    resources.stack = stack;
    here = stack.use(await createNamespace('agent-here'));
    there = await createNamespace('agent-there');
    // One test deletes it.
    stack.defer(() => requestApi('DELETE', `/api/v1/namespaces/${there.name}`).then(ignore, ignore));
    user = `reader-${here.name}`;
    await addService(here, 'one');
    await addService(there, 'two');
  });
  afterEach(() => resources.stack.disposeAsync());

  const getServices = ({ name }: TestNamespace): string => `/api/v1/namespaces/${name}/services`;
  const getDeployments = ({ name }: TestNamespace): string => `/apis/apps/v1/namespaces/${name}/deployments`;
  const addService = (namespace: TestNamespace, name: string): Promise<unknown> =>
    requestApi('POST', getServices(namespace), createService(name, { app: name }));

  async function open(account: JsonObject): Promise<AgentBench> {
    const authority = toBase64(await readFile(cluster.caFile, 'utf8'));
    const kubeconfigContents = toKubeconfig(
      { server: cluster.server, 'certificate-authority-data': authority },
      { token: cluster.token, as: user },
    );
    const engine = openTable(cacheTable);
    return resources.stack.use(
      openAgentBench({ engine, account: { kinds, kubeconfigContents, ...account } }),
    );
  }

  /** Gives the user these rights, in a namespace or everywhere, in place of those before; waits until they count. */
  async function allow(rights: Rights, namespace?: TestNamespace): Promise<void> {
    const scope = namespace === undefined ? rbacApi : `${rbacApi}/namespaces/${namespace.name}`;
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const [roles, bindings] =
      namespace === undefined ? ['clusterroles', 'clusterrolebindings'] : ['roles', 'rolebindings'];
    const rules = Object.entries(rights).map(([resource, verbs]) => ({
      apiGroups: [resource === 'deployments' ? 'apps' : ''],
      resources: [resource],
      verbs,
    }));
    if ((await findObject(`${scope}/${roles}/${user}`)) !== undefined) {
      await requestApi('PATCH', `${scope}/${roles}/${user}`, { rules });
    } else {
      await requestApi('POST', `${scope}/${roles}`, { metadata: { name: user }, rules });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: user };
      const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
      await requestApi('POST', `${scope}/${bindings}`, { metadata: { name: user }, roleRef, subjects });
      if (namespace === undefined) {
        resources.stack.defer(async () => {
          await requestApi('DELETE', `${scope}/${roles}/${user}`);
          await requestApi('DELETE', `${scope}/${bindings}/${user}`);
        });
      }
    }
    // The right to list namespaces is one for all of them.
    const changed = ['services', 'deployments', ...(namespace === undefined ? ['namespaces'] : [])];
    for (const resource of changed) {
      for (const verb of ['list', 'watch']) {
        const isAllowed = rights[resource]?.includes(verb) ?? false;
        await expect.poll(() => mayDo({ resource, verb, namespace }), { interval: 20 }).toBe(isAllowed);
      }
    }
  }

  async function mayDo(what: {
    resource: string;
    verb: string;
    namespace: TestNamespace | undefined;
  }): Promise<boolean> {
    const { resource, verb, namespace } = what;
    const group = resource === 'deployments' ? 'apps' : '';
    const resourceAttributes = { resource, verb, group, ...(namespace && { namespace: namespace.name }) };
    const review = await requestApi('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    });
    return (review as { status: { allowed: boolean } }).status.allowed;
  }

  const expectEqual = async (bench: AgentBench, namespace: TestNamespace): Promise<void> =>
    expect(await readCached(bench, 'service', namespace.name)).toEqual(
      await readLive(getServices(namespace)),
    );

  test('reads the namespaces that it may list one by one, and evicts those that are gone', async () => {
    await allow({ namespaces: read });
    await allow({ services: read, deployments: read }, here);
    await allow({ services: read, deployments: read }, there);
    const namespaces = (await readLive('/api/v1/namespaces')).map((found) => found.split('@')[0] ?? '');
    const omitNamespaces = namespaces.filter((name) => name !== here.name && name !== there.name);
    const bench = await open({ omitNamespaces });
    const first = await bench.run();
    expect(first).toMatchObject({ outcome: 'done', asOfMs: expect.any(Number) });
    expect(first.error).toBeUndefined();
    await expectEqual(bench, here);
    await expectEqual(bench, there);

    await addService(here, 'three');
    await bench.run({ isAlone: false });
    await expectEqual(bench, here);

    await requestApi('DELETE', `/api/v1/namespaces/${there.name}`);
    await expect
      .poll(() => findObject(`/api/v1/namespaces/${there.name}`), { timeout: 40_000 })
      .toBeUndefined();
    const beforeMs = bench.clock.now();
    expect(await bench.run()).toMatchObject({ outcome: 'done' });
    // What is gone does not make the rest look old.
    await expect.poll(async () => (await bench.run()).asOfMs).toBeGreaterThan(beforeMs);
    expect(await readCached(bench, 'service', there.name)).toEqual([]);
    await expectEqual(bench, here);
  });

  test('keeps what it may not read any more, says so, and goes on with the rest', async () => {
    await allow({ services: read, deployments: read }, here);
    const bench = await open({ namespaces: [here.name] });
    await requestApi('POST', getDeployments(here), createWorkload('Deployment', 'web'));
    expect((await bench.run()).details).toEqual({ kinds: 2, watches: 2 });
    const deployments = await readCached(bench, 'deployment', here.name);
    expect(deployments).toHaveLength(1);

    await allow({ services: read }, here);
    await addService(here, 'three');
    const lost = await bench.run();
    expect(lost).toMatchObject({ outcome: 'done', details: { forbidden: 'deployment' } });
    expect(lost.error).toBeUndefined();
    await expectEqual(bench, here);
    expect(await readCached(bench, 'deployment', here.name)).toEqual(deployments);
    expect(await bench.run()).toMatchObject({ details: { forbidden: 'deployment' } });

    await requestApi('DELETE', `${getDeployments(here)}/web`);
    await allow({ services: read, deployments: read }, here);
    bench.clock.advance(6 * minuteMs);
    expect((await bench.run()).details).toEqual({ kinds: 2, watches: 2 });
    expect(await readCached(bench, 'deployment', here.name)).toEqual(await readLive(getDeployments(here)));
  });

  test('reads all namespaces at once as soon as it may, and one by one when it may not any more', async () => {
    await allow({ namespaces: read });
    await allow({ services: read, deployments: read }, here);
    const bench = await open({});
    expect((await bench.run()).details).toMatchObject({ forbidden: expect.stringContaining('service in ') });
    await expectEqual(bench, here);
    expect(await readCached(bench, 'service', there.name)).toEqual([]);

    await allow({ namespaces: read, services: read, deployments: read });
    await bench.run();
    expect(await readCached(bench, 'service', there.name)).toEqual([]);
    bench.clock.advance(11 * minuteMs);
    expect((await bench.run()).details).toEqual({ kinds: 3, watches: 3 });
    await expectEqual(bench, here);
    await expectEqual(bench, there);

    await allow({ namespaces: read });
    await addService(here, 'three');
    await addService(there, 'four');
    const narrow = await bench.run();
    expect(narrow.error).toBeUndefined();
    await expectEqual(bench, here);
    // What may not be read any more is as it was.
    expect((await readCached(bench, 'service', there.name)).map((found) => found.split('@')[0])).toEqual([
      'two',
    ]);
  });

  test('lists what it may list and not watch', async () => {
    await allow({ services: ['list'], deployments: ['list'] }, here);
    const bench = await open({ namespaces: [here.name] });
    await bench.run();
    await addService(here, 'three');
    expect((await bench.run()).error).toBeUndefined();
    for (const name of ['four', 'five']) {
      await addService(here, name);
      expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'done', details: { kinds: 2 } });
      await expectEqual(bench, here);
    }
  });

  test('evicts nothing when it may read nothing at all, and fails in words', async () => {
    await allow({ namespaces: read, services: read, deployments: read });
    const bench = await open({});
    await bench.run();
    await allow({});
    const result = await bench.run();
    expect(result).toMatchObject({
      error: expect.stringMatching(/^none of the kinds may be read: .*service/),
      details: { namespaces: expect.stringContaining('may not be listed') },
    });
    await expectEqual(bench, here);
    await expectEqual(bench, there);
  });
});

function ignore(): void {
  // It is gone already.
}
