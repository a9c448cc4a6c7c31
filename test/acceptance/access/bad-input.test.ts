import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNamespace, describeWithCluster, kubectl } from '#test/support/cluster/cluster.ts';
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
  ['DELETE of a route that takes GET', answersItself],
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
    const account = { name: 'test', kubeconfigFile: cluster.kubeconfig, namespaces: ['allowed', 'default'] };
    system = await startSubject({ settings: { kubernetes: { enabled: true, accounts: [account] } } });
  });

  afterAll(async () => {
    await system[Symbol.asyncDispose]();
  });

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
    const account = { name: 'test', kubeconfigFile: cluster.kubeconfig };
    await using open = await startSubject({
      settings: { kubernetes: { enabled: true, accounts: [account] } },
    });
    const operations = [
      ...describeDeploy({
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
          credentials: 'test',
          manifestName: 'deployment web',
          location: namespace.name,
          replicas: '3',
        },
      },
    ];
    const id = await open.postOperations(operations);
    const deployed = await open.waitForTask(id);
    expect(deployed.resultObjects.filter(({ type }) => type === 'EXCEPTION')).toEqual([]);
    expect(await getReplicas(namespace.name)).toBe('3');

    const options = { gracePeriodSeconds: 0, orphanDependants: true, cascading: false };
    const description = {
      account: 'test',
      manifestName: 'deployment web',
      location: namespace.name,
      options,
    };
    const removed = await open.waitForTask(await open.postOperations([{ deleteManifest: description }]));
    expect(removed.status.failed).toBe(false);
    // Misspelt as Deck misspells it, the option still orphans the ReplicaSet.
    expect(await kubectl(['-n', namespace.name, 'get', 'replicasets', '-o', 'name'])).toContain('replicaset');
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

async function getReplicas(namespace: string): Promise<string> {
  return kubectl(['-n', namespace, 'get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}']);
}
