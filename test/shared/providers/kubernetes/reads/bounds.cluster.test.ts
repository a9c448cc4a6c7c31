import { beforeAll, describe, expect, test, vi } from 'vitest';
import { NotFoundError } from '#core/errors.ts';
import type { InstanceReader, JobReader, ManifestReader } from '#provider-kit/live-reads.ts';
import type { Provider } from '#provider-kit/provider.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createLive, findLive, getPathOf } from '../live.ts';
import { createConfigMap, createJob, createManifest, toMoniker } from '../manifests.ts';
import { openProvider } from '../provider-setup.ts';

const accounts = ['own', 'closed', 'omitting'];

type Place = { readonly account: string; readonly location: string };

describeWithCluster('the bounds of an account', (cluster) => {
  let own: TestNamespace;
  let vault: TestNamespace;
  let provider: Provider;
  let manifests: ManifestReader;
  let jobs: JobReader;
  let instances: InstanceReader;

  beforeAll(async () => {
    own = await createNamespace('own');
    vault = await createNamespace('vault');
    const { kubeconfig: kubeconfigFile } = cluster;
    provider = openProvider([
      { name: 'own', kubeconfigFile, namespaces: [own.name] },
      { name: 'closed', kubeconfigFile, namespaces: [own.name], clusterScopedKinds: false },
      { name: 'omitting', kubeconfigFile, omitNamespaces: [vault.name] },
      { name: 'open', kubeconfigFile },
    ]);
    manifests = await toSet(provider).getLiveReader('own', 'manifests');
    jobs = await toSet(provider).getLiveReader('own', 'jobs');
    instances = await toSet(provider).getLiveReader('own', 'instances');
    for (const namespace of [own.name, vault.name]) {
      const annotations = toMoniker('configMap flags');
      await createLive(namespace, 'configmaps', createConfigMap('flags', { at: namespace }, { annotations }));
      const logs = { 'kubecluster.test/outcome': 'run', 'kubecluster.test/logs': 'SPINNAKER_PROPERTY_a=1\n' };
      const more = { spec: { containers: [{ name: 'main', image: 'registry.test/web:1' }] } };
      await createLive(
        namespace,
        'pods',
        createManifest('v1', 'Pod', { name: 'web', annotations: logs, more }),
      );
      await createLive(namespace, 'jobs', createJob({ name: 'smoke' }));
      await vi.waitFor(async () => {
        expect(await findLive(namespace, 'pods/web')).toHaveProperty('status.phase', 'Running');
      }, 60_000);
    }
  });
  disposeAfterAll(() => [provider, own, vault]);

  function getManifest(account: string, location: string, name: string): Promise<object> {
    return manifests.getManifest({ account, location, name, includeEvents: true, revealSecrets: false });
  }

  /** Each live read of something in a namespace. */
  const reads: readonly (readonly [string, (at: Place) => Promise<unknown>])[] = [
    ['a manifest', (at) => getManifest(at.account, at.location, 'configMap flags')],
    ['the members of a cluster', (at) => manifests.listClusterManifests(toCluster(at))],
    ['the newest member of a cluster', (at) => manifests.getDynamicManifest(toCluster(at), 'newest')],
    ['the largest member of a cluster', (at) => manifests.getDynamicManifest(toCluster(at), 'largest')],
    ['a Job', (at) => jobs.getJob({ ...at, name: 'job smoke' })],
    ['the properties of a Job', (at) => jobs.getFileContents({ ...at, name: 'job smoke' }, 'main')],
    ['the properties of a pod', (at) => instances.getFileContents({ ...at, name: 'web' }, 'main')],
    ['the console of a pod', (at) => instances.getConsoleOutput({ ...at, name: 'pod web' })],
    ['a Job to delete', (at) => jobs.cancelJob({ ...at, name: 'job smoke' })],
  ];

  function toCluster(at: Place) {
    return { ...at, kind: 'configMap', application: 'shop', cluster: 'configMap flags' };
  }

  describe.each(reads)('%s', (what, read) => {
    test.each(accounts)('in another namespace is not there for the account %s', async (account) => {
      const refusal = read({ account, location: vault.name });
      await expect(refusal).rejects.toThrow(NotFoundError);
      await expect(refusal).rejects.toThrow(
        new RegExp(`the account may not use the namespace '${vault.name}' \\((wrong|omitted)Namespace\\)`),
      );
    });

    test('is there for an account that may use it', async () => {
      if (what !== 'a Job to delete') await read({ account: 'open', location: vault.name });
      for (const account of accounts) {
        if (what !== 'a Job to delete') expect(await read({ account, location: own.name })).toBeDefined();
      }
    });

    test.each(['x/y', '../vault', `a%2Fb`, '..', 'a\0', 'n'.repeat(64)])(
      'is nowhere in a namespace that is none: %j',
      async (location) => {
        await expect(read({ account: 'open', location })).rejects.toThrow(NotFoundError);
      },
    );
  });

  test('a Job of another namespace lives on', async () => {
    expect(await findLive(vault.name, 'jobs/smoke')).not.toHaveProperty('metadata.deletionTimestamp');
  });

  test('names that lead elsewhere are those of nothing', async () => {
    const location = own.name;
    const account = 'open';
    const long = 'n'.repeat(254);
    for (const name of ['web/log', '../pods/web', 'web%2Flog', 'web%252Flog', '..', 'web\0', long]) {
      await expect(getManifest(account, location, `pod ${name}`)).rejects.toThrow(NotFoundError);
      await expect(jobs.getJob({ account, location, name: `job ${name}` })).rejects.toThrow(NotFoundError);
      await expect(jobs.cancelJob({ account, location, name: `job ${name}` })).rejects.toThrow(NotFoundError);
      await expect(instances.getConsoleOutput({ account, location, name: `pod ${name}` })).rejects.toThrow(
        NotFoundError,
      );
      expect(await instances.getFileContents({ account, location, name }, 'main')).toEqual({});
      expect(await instances.getFileContents({ account, location, name: 'web' }, name)).toEqual({});
    }
    for (const kind of ['pods/log', '..', 'a%2f', '']) {
      const members = manifests.listClusterManifests({ ...toCluster({ account, location }), kind });
      await expect(members).rejects.toThrow(NotFoundError);
      await expect(members).rejects.toThrow('expected a kind of letters');
    }
    expect(await instances.getFileContents({ account, location, name: 'web' }, 'main')).toEqual({ a: '1' });
  });

  test('what is read without a namespace is read in the first of the account', async () => {
    const found = await getManifest('own', '', 'configMap flags');
    expect(found).toMatchObject({ location: own.name, manifest: { data: { at: own.name } } });
  });

  test('kinds that live in no namespace are read where the account may use them', async () => {
    const name = `system:${own.name}`;
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const role = createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', { name, more: { rules: [] } });
    await requestApi('POST', path, role);
    try {
      for (const account of ['own', 'omitting', 'open']) {
        expect(await getManifest(account, '', `clusterRole ${name}`)).toMatchObject({ location: '' });
      }
      const refusal = getManifest('closed', '', `clusterRole ${name}`);
      await expect(refusal).rejects.toThrow(NotFoundError);
      await expect(refusal).rejects.toThrow(
        "namespace-scoped account not allowed to access cluster-scoped kind: 'clusterRole'",
      );
      const members = { ...toCluster({ account: 'closed', location: '_' }), kind: 'clusterRole' };
      await expect(manifests.listClusterManifests(members)).rejects.toThrow(NotFoundError);
    } finally {
      await requestApi('DELETE', `${path}/${encodeURIComponent(name)}`);
    }
  });

  test('a Namespace is read by who may use it', async () => {
    expect(await getManifest('own', '', `namespace ${own.name}`)).toMatchObject({
      name: `namespace ${own.name}`,
    });
    for (const account of accounts) {
      await expect(getManifest(account, '', `namespace ${vault.name}`)).rejects.toThrow(NotFoundError);
    }
  });

  test('the events of an object are its own, whatever its name holds', async () => {
    const other = `role-of-${own.name}`;
    const name = `${other},metadata.name!=none`;
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const role = createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', { name, more: { rules: [] } });
    const event = createManifest('v1', 'Event', {
      name: other,
      more: { involvedObject: { kind: 'ClusterRole', name: other, namespace: 'default' } },
    });
    await requestApi('POST', path, role);
    await createLive('default', 'events', event);
    try {
      expect(await getManifest('open', '', `clusterRole ${name}`)).toMatchObject({ events: [] });
    } finally {
      await requestApi('DELETE', getPathOf('default', `events/${other}`));
      await requestApi('DELETE', `${path}/${encodeURIComponent(name)}`);
    }
  });
});
