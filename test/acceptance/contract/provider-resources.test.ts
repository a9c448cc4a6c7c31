import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  createConfigMap,
  createService,
  createWorkload,
} from '#test/shared/providers/kubernetes/manifests.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const target = '/v1/kubernetes/providers';

describeWithCluster('resources of a provider', (cluster) => {
  const stack = new AsyncDisposableStack();
  let system: System;
  beforeAll(async () => {
    const broker = stack.use(await startTokenBroker(() => cluster.token));
    system = stack.use(await startSystem({ env: { ARCADE_URL: broker.url, ARCADE_API_KEY: 'test' } }));
  });
  afterAll(() => stack.disposeAsync());

  async function send(method: string, path: string, body?: JsonObject): Promise<[number, unknown]> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await system.fetch(path, { method, ...text });
    const answer = await response.text();
    return [response.status, answer === '' ? '' : JSON.parse(answer)];
  }

  it('are what Spinnaker deployed, of the kinds that Deck shows, listed when they are asked for', async () => {
    await using namespace = await createNamespace('resources');
    const caData = (await readFile(cluster.caFile)).toString('base64');
    const provider = { name: 'one', host: cluster.server, caData, namespaces: [namespace.name] };
    expect(await send('POST', target, provider)).toEqual([201, provider]);
    const place = { namespace: namespace.name };
    const manifests = [
      createService('web', { app: 'web' }, place),
      createConfigMap('web', {}, place),
      createWorkload('Deployment', 'web', place),
    ];
    const deployment = { account: 'one', manifests, moniker: { app: 'shop' }, source: 'text' };
    const task = await system.waitForTask(await system.postOperations([{ deployManifest: deployment }]));
    expect(task.status).toMatchObject({ failed: false });

    // 504 says that listing goes on, which takes longer than a request waits on a busy machine: asked again, as a caller does.
    let [status, resources] = await send('PUT', `${target}/one/resources`);
    for (let again = 0; status === 504 && again < 5; again++) {
      [status, resources] = await send('PUT', `${target}/one/resources`);
    }

    const common = {
      accountName: 'one',
      name: 'web',
      namespace: namespace.name,
      version: 'v1',
      spinnakerApp: 'shop',
      id: expect.any(String),
      taskId: expect.any(String),
      timestamp: expect.any(String),
    };
    const shown = [
      { ...common, apiGroup: 'apps', resource: 'deployments', kind: 'Deployment' },
      { ...common, apiGroup: '', resource: 'services', kind: 'Service' },
    ];
    expect([status, resources]).toEqual([200, expect.any(Array)]);
    // The Deployment's controller may have made a ReplicaSet of it by now.
    const own = (resources as { kind: string; taskId: string }[]).filter(({ kind }) => kind !== 'ReplicaSet');
    expect(own).toEqual(shown);
    expect(new Set(own.map(({ taskId }) => taskId)).size).toBe(1);
    expect(await send('DELETE', `${target}/one/resources`)).toEqual([204, '']);
    for (const method of ['PUT', 'DELETE']) {
      const absent = await send(method, `${target}/none/resources`);
      expect(absent).toEqual([404, { error: 'provider not found' }]);
    }
  });

  it('are not told while its cluster does not answer', async () => {
    await send('POST', target, { name: 'away', host: 'http://127.0.0.1:1' });
    expect(await send('PUT', `${target}/away/resources`)).toEqual([
      504,
      { error: expect.stringMatching(/^The account away was not listed within 15 seconds/) },
    ]);
  });
});
