import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { readManifest } from '#test/support/providers/provider-set.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { createLive, getPathOf } from '../live.ts';
import { createDefinition, createManifest, createService, createWorkload } from '../manifests.ts';
import { openProvider } from '../provider-setup.ts';

describeWithCluster('whether a live object is ready', (cluster) => {
  const clock = createTestClock();
  const provider = openProvider(
    [
      { name: 'plain', kubeconfigFile: cluster.kubeconfig },
      { name: 'strict', kubeconfigFile: cluster.kubeconfig, readiness: 'kstatus' },
    ],
    { clock },
  );
  let namespace: Awaited<ReturnType<typeof createNamespace>>;
  beforeEach(async () => {
    namespace = await createNamespace();
    return () => namespace[Symbol.asyncDispose]();
  });
  afterAll(() => provider[Symbol.asyncDispose]());

  const asked = { 'busdriver.io/readiness': 'kstatus' };
  const pending = { 'kubecluster.test/outcome': 'pending' };

  function create(plural: string, manifest: JsonObject): Promise<unknown> {
    return createLive(namespace.name, plural, manifest);
  }

  /** `stable`, or what is in the way, as it shows in an account. */
  async function judge(account: 'plain' | 'strict', name: string, location = namespace.name) {
    const request = { account, location, name, includeEvents: false, revealSecrets: false };
    const view = JSON.parse(JSON.stringify(await readManifest(provider, request)));
    const { stable, failed } = view.status;
    if (failed.state) return `failed: ${failed.message}`;
    return stable.state ? 'stable' : `unstable: ${stable.message}`;
  }
  const expectEventually = (...call: Parameters<typeof judge>) => expect.poll(() => judge(...call));

  test('a Service of type LoadBalancer waits for its address, by its account or its annotation', async () => {
    const more = { spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] } };
    for (const [name, annotations] of Object.entries({ web: pending, own: { ...pending, ...asked } }))
      await create('services', { ...createService(name, { app: name }, { annotations }), ...more });
    expect(await judge('plain', 'service web')).toBe('stable');
    const waiting = 'unstable: The load balancer of the Service has no address yet';
    expect(await judge('strict', 'service web')).toBe(waiting);
    expect(await judge('plain', 'service own')).toBe(waiting);
    await requestApi('PATCH', getPathOf(namespace.name, 'services/web'), {
      metadata: { annotations: { 'kubecluster.test/outcome': null } },
    });
    await expectEventually('strict', 'service web').toBe('stable');
  });

  test('an object may ask for the rules of Clouddriver alone', async () => {
    const annotations = { ...pending, 'busdriver.io/readiness': 'clouddriver' };
    const more = { spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] } };
    await create('services', { ...createService('web', { app: 'web' }, { annotations }), ...more });
    expect(await judge('strict', 'service web')).toBe('stable');
  });

  test('a pod that crashes has failed', async () => {
    const spec = { containers: [{ name: 'main', image: 'registry.test/web:1' }] };
    const annotations = { 'kubecluster.test/outcome': 'crashloop' };
    await create('pods', createManifest('v1', 'Pod', { name: 'web', annotations, more: { spec } }));
    await expectEventually('strict', 'pod web').toBe('failed: Containers crash again and again: main');
    expect(await judge('plain', 'pod web')).toBe('stable');
  });

  test('a pod that no node takes has failed after a while', async () => {
    const spec = {
      nodeSelector: { 'example.com/none': 'such' },
      containers: [{ name: 'main', image: 'registry.test/web:1' }],
    };
    await create('pods', createManifest('v1', 'Pod', { name: 'web', more: { spec } }));
    await expectEventually('strict', 'pod web').toMatch(/^unstable: Pod is pending/);
    await expectEventually('plain', 'pod web').toMatch(
      /^unstable: Pod is pending: Unschedulable: 0\/\d+ nodes are available/,
    );
    clock.advance(20_000);
    await expectEventually('strict', 'pod web').toMatch(/^failed: The pod cannot be scheduled: .*nodes/);
    expect(await judge('plain', 'pod web')).toMatch(/^unstable: Pod is pending/);
  });

  test('a workload whose volume is missing tells so', async () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'none' } }];
    for (const kind of ['Deployment', 'StatefulSet'] as const) {
      const workload = createWorkload(kind, kind.toLowerCase(), { replicas: 1, more: { volumes } });
      await create(`${kind.toLowerCase()}s`, workload);
      await expectEventually('plain', `${kind} ${kind.toLowerCase()}`).toMatch(
        /^unstable: Waiting for .*; Unschedulable: .*persistentvolumeclaim "none" not found/,
      );
    }
  });

  test.each([
    [
      'image-pull',
      /; pod pull-\S+: container main: (ErrImagePull|ImagePullBackOff): .*registry\.test\/web:1/,
    ],
    [
      'crashloop',
      /; pod crash-\S+: container main: CrashLoopBackOff: back-off .* restarting failed container/,
    ],
  ])('a workload whose pods fail tells so: %s', async (outcome, message) => {
    const name = outcome === 'crashloop' ? 'crash' : 'pull';
    const { spec, ...workload } = createWorkload('Deployment', name, { replicas: 1 });
    const { template, ...rest } = spec as { readonly template: JsonObject };
    const labels = { app: name };
    const failing = {
      ...template,
      metadata: { labels, annotations: { 'kubecluster.test/outcome': outcome } },
    };
    await create('deployments', { ...workload, spec: { ...rest, template: failing } });
    await expectEventually('plain', `deployment ${name}`).toMatch(message);
  });

  test('a claim waits until it is bound', async () => {
    const claim = (name: string, storageClassName: string) => {
      const spec = {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName,
      };
      return createManifest('v1', 'PersistentVolumeClaim', { name, more: { spec } });
    };
    await create('persistentvolumeclaims', claim('stuck', 'none-such'));
    await create('persistentvolumeclaims', claim('fine', 'standard'));
    await expectEventually('strict', 'persistentVolumeClaim fine').toBe('stable');
    const waiting = 'unstable: The claim is not bound: its phase is Pending';
    await expectEventually('strict', 'persistentVolumeClaim stuck').toBe(waiting);
    expect(await judge('plain', 'persistentVolumeClaim stuck')).toBe('stable');
  });

  test('whose pods are refused waits, and tells so beside what it lacks, by any rules', async () => {
    const quota = createManifest('v1', 'ResourceQuota', {
      name: 'none',
      more: { spec: { hard: { pods: '0' } } },
    });
    await create('resourcequotas', quota);
    const path = getPathOf(namespace.name, 'resourcequotas/none');
    await expect.poll(() => requestApi('GET', path)).toHaveProperty('status.hard');
    await create('replicasets', createWorkload('ReplicaSet', 'web', { replicas: 1 }));
    await create('deployments', createWorkload('Deployment', 'shop', { replicas: 1 }));
    for (const account of ['strict', 'plain'] as const) {
      await expectEventually(account, 'replicaSet web').toMatch(
        /^unstable: Waiting for all replicas to be fully-labeled: 0 of 1 are; FailedCreate: .*quota/,
      );
      await expectEventually(account, 'deployment shop').toMatch(
        /^unstable: Waiting for all replicas to be updated: 0 of 1 .*; FailedCreate: .*quota/,
      );
    }
  });

  test('a definition waits until it is established, and its objects until they say that they are ready', async () => {
    const suffix = randomBytes(4).toString('hex');
    const [plural, kind] = [`r${suffix}`, `R${suffix}`];
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const made = [define(plural, kind), define(`other${suffix}`, kind)];
    try {
      for (const each of made) {
        await requestApi('POST', path, each);
        if (each === made[0])
          await expectEventually('strict', `crd ${plural}.stable.example.com`, '').toBe('stable');
      }
      const taken = `customResourceDefinition other${suffix}.stable.example.com`;
      await expectEventually('strict', taken, '').toMatch(/^failed: .*already in use/);
      expect(await judge('plain', taken, '')).toBe('stable');
      const objects = `/apis/stable.example.com/v1/namespaces/${namespace.name}/${plural}`;
      const status = { conditions: [{ type: 'Ready', status: 'False', message: 'the disk is being made' }] };
      await requestApi('POST', objects, {
        ...createManifest('stable.example.com/v1', kind, { name: 'one' }),
        status,
      });
      const name = `${kind}.stable.example.com one`;
      expect(await judge('plain', name)).toBe('stable');
      expect(await judge('strict', name)).toBe('unstable: the disk is being made');
      await requestApi('PATCH', `${objects}/one`, {
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      });
      expect(await judge('strict', name)).toBe('stable');
    } finally {
      for (const each of [`other${suffix}`, plural])
        await requestApi('DELETE', `${path}/${each}.stable.example.com`);
    }
  });

  /** A definition whose objects may have any status. */
  function define(plural: string, kind: string): JsonObject {
    const text = JSON.stringify(createDefinition(plural, kind, 'Namespaced'));
    const open = '{"x-kubernetes-preserve-unknown-fields":true}';
    return JSON.parse(text.replace('"properties":{', `"properties":{"status":${open},`)) as JsonObject;
  }
});
