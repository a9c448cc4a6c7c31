import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { findLive, listNames } from '#test/shared/providers/kubernetes/live.ts';
import {
  createConfigMap,
  createService,
  createWorkload,
} from '#test/shared/providers/kubernetes/manifests.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject, SystemTask } from '#test/support/system/system.ts';

/** What Orca promotes from a deploy. */
interface Outputs {
  readonly manifestNamesByNamespace: { readonly [namespace: string]: readonly string[] };
  readonly manifests: readonly JsonObject[];
}

describeWithCluster('the stages of a pipeline, as Orca runs them', (cluster) => {
  const resources = new AsyncDisposableStack();
  let system: Subject;
  let ns: TestNamespace;

  beforeAll(async () => {
    const dir = resources.use(await makeTempDir());
    ns = resources.use(await createNamespace('stages'));
    const accounts = [
      { name: 'prod', kubeconfigFile: cluster.kubeconfig, namespaces: [ns.name] },
      { name: 'broken', kubeconfigFile: path.join(dir.path, 'missing') },
    ];
    system = resources.use(await startSubject({ settings: { kubernetes: { enabled: true, accounts } } }));
  });
  afterAll(() => resources.disposeAsync());

  async function run(operation: JsonObject): Promise<SystemTask> {
    return system.waitForTask(await system.postOperations([operation]));
  }

  async function getJson(target: string): Promise<{ status: number; body: JsonObject }> {
    const response = await system.fetch(target);
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  async function waitUntilStable({ manifestNamesByNamespace }: Outputs): Promise<void> {
    for (const [location, names] of Object.entries(manifestNamesByNamespace)) {
      for (const name of names) {
        const target = `/manifests/prod/${location}/${encodeURIComponent(name)}?includeEvents=false`;
        const read = async () => (await getJson(target)).body.status;
        await expect.poll(read).toMatchObject({ stable: { state: true } });
      }
    }
  }

  test('deploy, wait until stable, deploy again, scale, delete', async () => {
    const deploy = (image: string) => ({
      deployManifest: {
        account: 'prod',
        cloudProvider: 'kubernetes',
        source: 'text',
        moniker: { app: 'shop' },
        services: ['service web'],
        strategy: 'RED_BLACK',
        enableTraffic: true,
        optionalArtifacts: [{ type: 'docker/image', name: 'registry.test/web', reference: image }],
        manifests: [
          createWorkload('ReplicaSet', 'web', {
            namespace: ns.name,
            replicas: 2,
            image: 'registry.test/web',
            more: { volumes: [{ name: 'flags', configMap: { name: 'flags' } }] },
          }),
          createService('web', { serves: 'web' }, { namespace: ns.name }),
          createConfigMap('flags', { a: '1' }, { namespace: ns.name }),
        ],
      },
    });
    const first = await run(deploy('registry.test/web:1'));
    expect(first.status).toMatchObject({ completed: true, failed: false });
    const outputs = first.resultObjects[0] as unknown as Outputs;
    expect(outputs.manifestNamesByNamespace).toEqual({
      [ns.name]: ['configMap flags-v000', 'service web', 'replicaSet web-v000'],
    });
    await waitUntilStable(outputs);
    await run(deploy('registry.test/web:2'));
    expect(await listNames(ns.name, 'replicasets')).toEqual(['web-v000', 'web-v001']);
    expect(await listNames(ns.name, 'configmaps')).toEqual(['flags-v000']);

    const members = `/manifests/prod/${ns.name}/replicaSet/cluster/shop/${encodeURIComponent('replicaSet web')}`;
    expect((await getJson(members)).body).toHaveLength(2);
    const oldest = (await getJson(`${members}/dynamic/oldest`)).body;
    expect(oldest).toEqual({ kind: 'replicaSet', namespace: ns.name, name: 'web-v000' });
    const manifestName = `${oldest.kind} ${oldest.name}`;
    const target = { account: 'prod', location: ns.name, manifestName };
    const scaled = await run({ scaleManifest: { ...target, replicas: '1' } });
    expect(scaled).toMatchObject({ status: { failed: false }, resultObjects: [] });
    expect(await findLive(ns.name, 'replicasets/web-v000')).toHaveProperty('spec.replicas', 1);

    const deleted = await run({ deleteManifest: { ...target, options: { cascading: true } } });
    expect(deleted.resultObjects).toMatchObject([
      { manifestNamesByNamespace: { [ns.name]: [manifestName] } },
    ]);
    const read = await getJson(`/manifests/prod/${ns.name}/${encodeURIComponent(manifestName)}`);
    expect(read.status).toBe(404);
    // An account that is new is cached with the scheduler's next turn.
    const listApplications = async () => (await system.fetch('/applications')).json();
    await expect.poll(listApplications, { timeout: 100_000, interval: 500 }).toContainEqual({
      name: 'shop',
      attributes: { name: 'shop' },
      clusterNames: { prod: ['replicaSet web'] },
    });
  });

  test('what cannot be accepted is refused with all reasons, and nothing changes', async () => {
    const manifests = [createConfigMap('refused', {}, { namespace: 'kube-system' })];
    const response = await system.fetch('/kubernetes/ops', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ deployManifest: { account: 'prod', manifests } }]),
    });
    expect(response.status).toBe(400);
    const context = 'deployKubernetesManifest.deployKubernetesManifest';
    expect(await response.json()).toMatchObject({
      message: 'Validation Failed',
      errors: [`${context}.moniker.empty`, `${context}.kube-system.wrongNamespace`],
    });
  });

  test('a failure names the manifest and carries the words of the API server', async () => {
    const manifests = [createWorkload('Deployment', 'Web', { namespace: ns.name })];
    const task = await run({ deployManifest: { account: 'prod', moniker: { app: 'shop' }, manifests } });
    expect(task.status.failed).toBe(true);
    expect(task.resultObjects).toMatchObject([
      {
        type: 'EXCEPTION',
        operation: 'KubernetesDeployManifestOperation',
        message: expect.stringMatching(
          /^Deploying deployment Web in namespace .* failed: .*Invalid value: "Web"/,
        ),
      },
    ]);
  });

  test('an account that cannot be reached fails its own operations, and says why', async () => {
    const manifests = [createConfigMap('flags', {})];
    const task = await run({ deployManifest: { account: 'broken', moniker: { app: 'shop' }, manifests } });
    expect(task.resultObjects).toMatchObject([
      { type: 'EXCEPTION', message: expect.stringContaining('account "broken"') },
    ]);
  });
});
