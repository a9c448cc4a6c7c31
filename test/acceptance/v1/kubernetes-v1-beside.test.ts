import { afterAll, beforeAll, expect, it } from 'vitest';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { findLive } from '#test/shared/providers/kubernetes/live.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startV1World, type V1World } from './v1-world.ts';

const image = 'registry.test/team/web:1.4';

describeWithCluster('a V1 account beside a V2 account', (cluster) => {
  let world: V1World;

  beforeAll(async () => {
    world = await startV1World(cluster);
  }, 300_000);

  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  const containers = [{ name: 'web', imageDescription: { uri: image } }];

  it('stands with it in lists of one application', async () => {
    await world.run('createServerGroup', { application: 'kub', stack: 'test', targetSize: 0, containers });
    const manifest = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'kub-api', namespace: world.modern.name },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'api' } },
        template: { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'api', image }] } },
      },
    };
    const moniker = { app: 'kub', cluster: 'deployment kub-api' };
    const id = await world.system.postOperations([
      { deployManifest: { account: 'new', source: 'text', manifests: [manifest], moniker } },
    ]);
    expect((await world.system.waitForTask(id)).status).toMatchObject({ failed: false });
    const readNames = async () =>
      (await world.getJson<JsonObject[]>('/applications/kub/serverGroups'))
        .map(({ account, name }) => [account, String(name).replace(/-[a-z0-9]+$/, '')])
        .filter(([account, name]) => account === 'new' || name === 'kub-test')
        .sort();
    await expect.poll(readNames, { timeout: 60_000 }).toEqual([
      ['new', 'replicaSet kub-api'],
      ['old', 'kub-test'],
    ]);
    const page = await world.getJson<JsonObject>('/applications/kub');
    expect(Object.keys(page['clusters'] as JsonObject).sort()).toEqual(['new', 'old']);
    expect(getPath(page, 'attributes', 'cloudProviders')).toBe('kubernetes');
    const find = async (query: string, type: string) =>
      (await world.getJson<JsonObject[]>(`/search?q=${query}&type=${type}&pageSize=100`))[0]?.[
        'results'
      ] as JsonObject[];
    const named = (await find('kub-test-v000', 'serverGroups')).filter(
      ({ group }) => group === 'ReplicationController',
    );
    expect(named).toMatchObject([{ name: 'kub-test-v000', serverGroup: 'kub-test-v000', account: 'old' }]);
    const applications = (await find('kub', 'applications')).filter(
      ({ type, name }) => type === 'applications' && name === 'kub',
    );
    expect(applications).toHaveLength(1);
  }, 180_000);

  it('show a job as it fares, with what it wrote, by its bare name', async () => {
    const runJob = async (annotations: JsonObject) => {
      const task = await world.run('runJob', { application: 'kub', stack: 'smoke', annotations, containers });
      const [{ deployedNames: [name = ''] = [] } = {}] = task.resultObjects as { deployedNames?: string[] }[];
      return name;
    };
    const log = 'SPINNAKER_PROPERTY_COLOR=green';
    const good = await runJob({ 'kubecluster.test/outcome': 'succeed', 'kubecluster.test/logs': log });
    const bad = await runJob({ 'kubecluster.test/outcome': 'fail', 'kubecluster.test/exit-code': '3' });
    const path = (name: string) => `/applications/kub/jobs/old/${world.old.name}/${name}`;
    const read = (name: string) => world.getJson<JsonObject>(path(name));
    await expect.poll(() => read(good), { timeout: 60_000 }).toMatchObject({ jobState: 'Succeeded' });
    await expect
      .poll(() => read(bad), { timeout: 60_000 })
      .toMatchObject({ jobState: 'Failed', exitCode: 3 });
    const live = await findLive(world.old.name, `pods/${good}`);
    const [status] = asJsonArray(getPath(live, 'status', 'containerStatuses'));
    expect(await read(good)).toMatchObject({
      name: good,
      id: good,
      account: 'old',
      location: world.old.name,
      provider: 'kubernetes',
      createdTime: Date.parse(String(getPath(live, 'metadata', 'creationTimestamp'))),
      completedTime: Date.parse(String(getPath(status, 'state', 'terminated', 'finishedAt'))),
      completionDetails: { exitCode: '0', reason: 'Completed' },
      logs: expect.stringContaining(log),
    });
    expect(await world.getJson(`${path(good)}/web`)).toEqual({ color: 'green' });
    expect(
      await world.getJson(`/instances/old/${world.old.name}/${good}/console?provider=kubernetes`),
    ).toEqual({ output: [{ name: 'web', output: expect.stringContaining(log) }] });
    const cancelled = await world.system.fetch(path(bad), { method: 'DELETE' });
    expect(cancelled.status).toBe(200);
    const isGone = async () => (await world.system.fetch(path(bad))).status;
    await expect.poll(isGone, { timeout: 60_000 }).toBe(404);
    // Nothing but the agent deletes a job that somebody reads.
    expect(await findLive(world.old.name, `pods/${good}`)).toBeDefined();
  }, 180_000);

  it('are as old as what is cached, whenever namespaces were looked at last', async () => {
    const agents = await world.getJson<JsonObject[]>('/cache/introspection');
    const registration = agents.find(({ id }) => id === 'old/KubernetesV1RegistrationAgent');
    expect(registration?.['details']).toMatchObject({ cachesNothing: true });
    expect((await world.findAgent())?.['details']).toMatchObject({
      agents: expect.stringContaining('KubernetesServerGroupCachingAgent'),
    });
    const response = await world.system.fetch('/applications/kub/clusters/old', {
      headers: { 'Cache-Control': 'max-age=1' },
    });
    const asOf = Date.parse(response.headers.get('x-busdriver-as-of') ?? '');
    expect(asOf).not.toBe(registration?.['asOf']);
    expect(response.headers.get('x-busdriver-lag')).toMatch(/^old=\d+$/);
  });

  it('answer 200 to those who ask for a refresh after an operation', async () => {
    for (const [type, key] of [
      ['serverGroup', 'serverGroupName'],
      ['loadBalancer', 'loadBalancerName'],
      ['securityGroup', 'securityGroupName'],
    ] as const) {
      const body = JSON.stringify({ account: 'old', region: world.old.name, [key]: 'kub-test-v000' });
      expect((await world.system.fetch(`/cache/kubernetes/${type}`, { method: 'POST', body })).status).toBe(
        200,
      );
    }
  });
});
