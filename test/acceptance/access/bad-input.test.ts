import { AppsV1Api, CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConfigMap } from '#test/shared/providers/kubernetes/manifests.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { listOpenRows } from '#test/support/engines/open-rows.ts';
import { itLocally, startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';
import {
  type BadRequest,
  deployment,
  describeDeploy,
  malformedBodies,
  wrongDescriptions,
  wrongRoutes,
} from './bad-input-data.ts';

const decodes = 'the emulator decodes the path before it looks for a route';
const answersItself = 'API Gateway answers itself: see test/deploy/front-door.deployed.ts';

/** What can be tested on this machine alone, by title, and why. */
const localReasons = new Map([
  ['a body of 12 MB', 'the emulator takes bodies of any size'],
  ['an unknown path', answersItself],
  ['GET of a route that takes POST', answersItself],
  ['PUT of a route that takes GET', answersItself],
  ['a task id of another world', decodes],
  ['a manifest name with a slash', decodes],
  ['a namespace with a slash', decodes],
  ['a manifest name encoded twice', decodes],
  ['a slash encoded twice', decodes],
  ['an account encoded twice', decodes],
  ['a manifest name with a null byte', decodes],
  ['a malformed percent sign', decodes],
]);

describeWithCluster('bad input', (cluster) => {
  let system: Subject;

  beforeAll(async () => {
    const { kubeconfig: kubeconfigFile } = cluster;
    const accounts = [
      { name: 'test', kubeconfigFile, namespaces: ['allowed', 'default'] },
      { name: 'wide', kubeconfigFile },
    ];
    system = await startSubject({ settings: { kubernetes: { enabled: true, accounts } } });
  });

  afterAll(() => system[Symbol.asyncDispose]());

  for (const bad of [...malformedBodies, ...wrongDescriptions, ...wrongRoutes]) {
    const reason = localReasons.get(bad.title);
    const define = reason === undefined ? it : itLocally(reason);
    define(`${bad.title} is refused`, () => expectRefusal(bad));
  }

  async function expectRefusal(bad: BadRequest): Promise<void> {
    const response = await send(system, bad);
    const answer = (await response.json()) as { [name: string]: unknown };

    expect(answer).toMatchObject({ status: bad.status, message: bad.message ?? 'Validation Failed' });
    expect(answer['errors']).toEqual(bad.errors);
    expect(response.status).toBe(bad.status);
    expect(answer['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    expect(JSON.stringify(answer)).not.toContain('planted-secret');
  }

  it('leaves no task behind', async () => {
    expect(await (await system.fetch('/task')).json()).toEqual([]);
    expect(await listOpenRows(system.stores)).toEqual([]);
  });

  it('is not what Jackson would coerce: that is accepted', async () => {
    await using namespace = await createNamespace('coerce');
    const metadata = { name: 'web', namespace: namespace.name };
    const operations = [
      ...describeDeploy({
        account: 'wide',
        manifests: [null, { ...deployment, metadata }],
        manifest: null,
        versioned: null,
        enableTraffic: 'true',
        requiredArtifacts: null,
        moniker: { app: 'web', sequence: '3', unknown: [] },
        stageId: { of: 'Orca' },
      }),
      {
        scaleManifest: {
          credentials: 'wide',
          manifestName: 'deployment web',
          location: namespace.name,
          replicas: '3',
        },
      },
    ];
    const deployed = await system.waitForTask(await system.postOperations(operations));
    expect(deployed.resultObjects.filter(({ type }) => type === 'EXCEPTION')).toEqual([]);
    expect(await getReplicas(namespace.name)).toBe(3);

    const options = { gracePeriodSeconds: 0, orphanDependants: true, cascading: false };
    const description = {
      account: 'wide',
      manifestName: 'deployment web',
      location: namespace.name,
      options,
    };
    const removed = await system.waitForTask(await system.postOperations([{ deleteManifest: description }]));
    expect(removed.status.failed).toBe(false);
    // Misspelt as Deck misspells it, the option still orphans the ReplicaSet.
    const left = await openApi(AppsV1Api).listNamespacedReplicaSet({ namespace: namespace.name });
    expect(left.items).not.toEqual([]);
  });

  it('is not 400 manifests in a body of 3 MB: they are deployed', async () => {
    await using namespace = await createNamespace('large');
    const filler = 'x'.repeat(7_500);
    const annotations = { 'strategy.spinnaker.io/versioned': 'false' };
    const manifests = Array.from({ length: 400 }, (_, index) =>
      createConfigMap(
        `large-${index}`,
        { index: String(index), filler },
        { namespace: namespace.name, annotations },
      ),
    );
    const operations = [{ deployManifest: { account: 'wide', moniker: { app: 'large' }, manifests } }];
    expect(JSON.stringify(operations).length).toBeGreaterThan(3_000_000);

    const id = await system.postOperations(operations);
    const view = await system.waitForTask(id, { timeoutMs: 120_000 });

    expect(view.status).toMatchObject({ completed: true, failed: false });
    expect(view.resultObjects[0]?.['manifests']).toHaveLength(400);
    const { items } = await openApi(CoreV1Api).listNamespacedConfigMap({ namespace: namespace.name });
    const deployed = items.filter(({ metadata }) => metadata?.name?.startsWith('large-'));
    expect(deployed).toHaveLength(400);
    expect(deployed.every(({ metadata, data }) => metadata?.name === `large-${data?.['index']}`)).toBe(true);
  });

  it("that the API server alone refuses fails the task with the server's own words", async () => {
    const filler = 'x'.repeat(1_100_000);
    const manifest = createConfigMap('too-large', { filler }, { namespace: 'default' });
    const operation = { account: 'wide', moniker: { app: 'large' }, manifests: [manifest] };
    const view = await system.waitForTask(await system.postOperations([{ deployManifest: operation }]));

    expect(view.status).toMatchObject({ completed: true, failed: true });
    const exception = view.resultObjects.find(({ type }) => type === 'EXCEPTION');
    // Of the limits that it breaks the API server tells the one on annotations first: kubectl apply meets the same.
    expect(exception?.['message']).toMatch(/Too long: may not be more than 262144 bytes/);
  });
});

async function send(system: Subject, bad: BadRequest): Promise<Response> {
  const { method = 'POST', path = '/kubernetes/ops', body } = bad;
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  return await system.fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && {
      body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    }),
  });
}

async function getReplicas(namespace: string): Promise<number | undefined> {
  const { spec } = await openApi(AppsV1Api).readNamespacedDeployment({ namespace, name: 'web' });
  return spec?.replicas;
}
