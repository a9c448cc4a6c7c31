import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { findLive, listNames } from '#test/shared/providers/kubernetes/live.ts';
import { createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startV1World, type V1World } from './v1-world.ts';

const image = 'registry.test/team/web:1.4';

describeWithCluster('views of a V1 account', (cluster) => {
  let world: V1World;

  beforeAll(async () => {
    world = await startV1World(cluster);
  });

  afterAll(() => world?.[Symbol.asyncDispose]());

  const containers = [{ name: 'web', imageDescription: { uri: image } }];

  it('show a server group that an operation has made', async () => {
    await world.run('createServerGroup', {
      ...{ application: 'kub', stack: 'test', targetSize: 2, containers },
      loadBalancers: ['kub-web'],
    });
    const live = await findLive(world.old.name, 'replicationcontrollers/kub-test-v000');
    const [found, ...others] = await world.getJson<JsonObject[]>('/applications/kub/serverGroups');
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      name: 'kub-test-v000',
      account: 'old',
      type: 'kubernetes',
      cloudProvider: 'kubernetes',
      region: world.old.name,
      cluster: 'kub-test',
      moniker: { app: 'kub', cluster: 'kub-test', stack: 'test', sequence: 0 },
      createdTime: Date.parse(String(getPath(live, 'metadata', 'creationTimestamp'))),
      capacity: { min: 2, max: 2, desired: 2 },
      isDisabled: false,
      labels: { 'replication-controller': 'kub-test-v000', 'load-balancer-kub-web': 'true' },
      loadBalancers: ['kub-web'],
      securityGroups: [],
      buildInfo: { images: ['team/web:1.4'] },
    });
    expect(await world.getJson('/applications/kub/clusters')).toEqual({ old: ['kub-test'] });
    const applications = await world.getJson<JsonObject[]>('/applications');
    expect(applications.find(({ name }) => name === 'kub')?.['clusterNames']).toEqual({ old: ['kub-test'] });
  });

  it('show its pods by their names, as they fare', async () => {
    const isThere = async () => (await listNames(world.old.name, 'pods')).length;
    await expect.poll(isThere).toBe(2);
    const names = await listNames(world.old.name, 'pods');
    const readInstances = async () => {
      const [serverGroup] = await world.getJson<JsonObject[]>('/applications/kub/serverGroups');
      const instances = serverGroup?.['instances'] as JsonObject[];
      return instances
        .map(({ id, zone }) => ({ id, zone }))
        .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    };
    const expected = names.map((id) => ({ id, zone: world.old.name }));
    await expect.poll(readInstances).toEqual(expected);
  });

  const firstPod = async () =>
    (await listNames(world.old.name, 'pods')).find((name) => name.startsWith('kub-test-'));

  it('show a server group whole, with the description that would make it anew, and as YAML', async () => {
    await world.run('upsertScalingPolicy', {
      serverGroupName: 'kub-test-v000',
      capacity: { min: 1, max: 4 },
      scalingPolicy: { cpuUtilization: { target: 60 } },
    });
    const path = `/applications/kub/serverGroups/old/${world.old.name}/kub-test-v000`;
    const found = await world.getJson<JsonObject>(path);
    expect(found).toMatchObject({
      name: 'kub-test-v000',
      kind: 'ReplicationController',
      namespace: world.old.name,
      replicas: 2,
      hostNetwork: false,
      zones: [world.old.name],
      launchConfig: {},
      disabled: false,
      imageSummary: { serverGroupName: 'kub-test-v000', buildInfo: { images: ['team/web:1.4'] } },
      instanceCounts: { total: 2, down: 0, outOfService: 0 },
    });
    expect(found['deployDescription']).toMatchObject({
      account: 'old',
      application: 'kub',
      stack: 'test',
      namespace: world.old.name,
      region: world.old.name,
      kind: 'ReplicationController',
      targetSize: 2,
      loadBalancers: ['kub-web'],
      capacity: { min: 1, max: 4, desired: 2 },
      scalingPolicy: { cpuUtilization: { target: 60 } },
      containers: [
        {
          name: 'web',
          imageDescription: { registry: 'registry.test', repository: 'team/web', tag: '1.4' },
          imagePullPolicy: 'IFNOTPRESENT',
        },
      ],
    });
    const live = await findLive(world.old.name, 'replicationcontrollers/kub-test-v000');
    const { status: _, ...written } = live ?? {};
    const {
      uid: __,
      resourceVersion: ___,
      managedFields: ____,
      ...metadata
    } = written['metadata'] as JsonObject;
    expect(parseYaml(String(found['yaml']))).toEqual({ ...written, metadata });
    const [instance] = found['instances'] as JsonObject[];
    expect(instance).toMatchObject({
      controllerName: 'kub-test-v000',
      controllerKind: 'ReplicationController',
      loadBalancers: ['kub-web'],
      pod: { kind: 'Pod', metadata: { name: instance?.['name'] } },
    });
    expect(await world.getJson(`/serverGroups/old/${world.old.name}/kub-test-v000`)).toMatchObject({
      name: 'kub-test-v000',
    });
  });

  it('show a cluster with its server groups, and which of them a stage means', async () => {
    expect(await world.getJson('/applications/kub/clusters/old')).toEqual([
      {
        name: 'kub-test',
        account: 'old',
        moniker: { app: 'kub', cluster: 'kub-test' },
        loadBalancers: ['kub-web'],
        serverGroups: ['kub-test-v000'],
      },
    ]);
    const cluster = '/applications/kub/clusters/old/kub-test';
    expect(await world.getJson(cluster)).toMatchObject([
      { name: 'kub-test', type: 'kubernetes', serverGroups: [{ name: 'kub-test-v000' }] },
    ]);
    const target = `${cluster}/kubernetes/${world.old.name}/serverGroups/target/current_asg_dynamic`;
    expect(await world.getJson(target)).toMatchObject({ name: 'kub-test-v000', region: world.old.name });
    expect(await world.getJson(`${target}/image`)).toEqual({
      serverGroupName: 'kub-test-v000',
      buildInfo: { images: ['team/web:1.4'] },
    });
  });

  it('show a pod by its bare name, as it fares', async () => {
    const pod = (await firstPod()) ?? '';
    const live = await findLive(world.old.name, `pods/${pod}`);
    const found = await world.getJson<JsonObject>(`/instances/old/${world.old.name}/${pod}`);
    expect(found).toMatchObject({
      name: pod,
      instanceId: pod,
      location: world.old.name,
      zone: world.old.name,
      launchTime: Date.parse(String(getPath(live, 'status', 'startTime'))),
      providerType: 'kubernetes',
      healthState: 'Up',
      health: [
        { source: 'Pod', type: 'KubernetesPod', healthClass: 'platform', state: 'Up' },
        { source: 'Service load-balancer-kub-web', type: 'KubernetesService', state: 'Up' },
        { source: `Container ${image}`, type: 'KubernetesContainer', state: 'Up' },
      ],
      pod: { metadata: { uid: getPath(live, 'metadata', 'uid') } },
    });
    expect((await world.system.fetch(`/instances/old/${world.old.name}/nobody`)).status).toBe(404);
  });

  it('show load balancers and firewalls with what is behind them', async () => {
    await world.run('upsertLoadBalancer', {
      name: 'kub-web',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      serviceType: 'ClusterIP',
    });
    await world.run('upsertSecurityGroup', {
      securityGroupName: 'kub-door',
      ingress: { serviceName: 'kub-web', port: 80 },
      rules: [
        {
          host: 'shop.test',
          value: { http: { paths: [{ path: '/', ingress: { serviceName: 'kub-web', port: 80 } }] } },
        },
      ],
    });
    const [service, ...others] = await world.getJson<JsonObject[]>('/applications/kub/loadBalancers');
    expect(others).toEqual([]);
    const pods = (await listNames(world.old.name, 'pods')).filter((name) => name.startsWith('kub-test-'));
    const instances = pods.map((id) => ({ id, name: id, zone: world.old.name, health: { state: 'Up' } }));
    expect(service).toMatchObject({
      name: 'kub-web',
      account: 'old',
      region: world.old.name,
      serverGroups: [
        {
          name: 'kub-test-v000',
          isDisabled: false,
          instances: expect.arrayContaining(instances),
          detachedInstances: [],
        },
      ],
      securityGroups: ['kub-door'],
      service: { kind: 'Service', spec: { selector: { 'load-balancer-kub-web': 'true' } } },
      description: {
        name: 'kub-web',
        serviceType: 'ClusterIP',
        ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      },
    });
    expect(await world.getJson(`/kubernetes/loadBalancers/old/${world.old.name}/kub-web`)).toEqual([service]);
    expect(await world.getJson(`/securityGroups/old?region=${world.old.name}`)).toEqual({
      kubernetes: [{ name: 'kub-door', id: 'kub-door', moniker: {} }],
    });
    expect(await world.getJson(`/securityGroups/old/kubernetes/${world.old.name}/kub-door`)).toMatchObject({
      id: 'kub-door',
      application: 'kub',
      loadBalancers: ['kub-web'],
      inboundRules: [
        {
          host: 'shop.test',
          paths: ['/'],
          portRanges: [
            { startPort: 80, endPort: 80 },
            { startPort: 443, endPort: 443 },
          ],
        },
      ],
      description: { securityGroupName: 'kub-door', ingress: { serviceName: 'kub-web', port: 80 } },
      summary: { name: 'kub-door', id: 'kub-door' },
    });
    const [serverGroup] = await world.getJson<JsonObject[]>('/applications/kub/serverGroups');
    expect(serverGroup?.['securityGroups']).toEqual(['kub-door']);
  });

  it('show a server group as out of service once it is disabled, and its pods as detached', async () => {
    await world.run('disableServerGroup', { serverGroupName: 'kub-test-v000' });
    expect(await world.getJson('/applications/kub/serverGroups')).toMatchObject([
      { name: 'kub-test-v000', isDisabled: true, instanceCounts: { total: 2, up: 0, outOfService: 2 } },
    ]);
    const [service] = await world.getJson<JsonObject[]>('/applications/kub/loadBalancers');
    const pods = (await listNames(world.old.name, 'pods')).filter((name) => name.startsWith('kub-test-'));
    expect(service).toMatchObject({ serverGroups: [{ isDisabled: true, instances: [] }] });
    const [member] = asJsonArray(service?.['serverGroups']);
    expect(asJsonArray(getPath(member, 'detachedInstances')).toSorted()).toEqual(pods);
    await world.run('enableServerGroup', { serverGroupName: 'kub-test-v000' });
    expect(await world.getJson('/applications/kub/serverGroups')).toMatchObject([
      { isDisabled: false, instanceCounts: { up: 2, outOfService: 0 } },
    ]);
  });

  it('lose a server group as soon as it is destroyed', async () => {
    await world.run('destroyServerGroup', { serverGroupName: 'kub-test-v000' });
    const left = await world.getJson<JsonObject[]>('/applications/kub/serverGroups');
    expect(left.filter(({ account }) => account === 'old')).toEqual([]);
    expect((await world.system.fetch(`/serverGroups/old/${world.old.name}/kub-test-v000`)).status).toBe(404);
  });

  it('stand in lists of one application with those of a V2 account', async () => {
    await world.run('createServerGroup', { application: 'kub', stack: 'test', targetSize: 0, containers });
    const parts = { namespace: world.modern.name, replicas: 0, image };
    const manifest = createWorkload('Deployment', 'kub-api', parts);
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
    await expect.poll(readNames).toEqual([
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
  });

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
    await expect.poll(() => read(good)).toMatchObject({ jobState: 'Succeeded' });
    await expect.poll(() => read(bad)).toMatchObject({ jobState: 'Failed', exitCode: 3 });
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
    await expect.poll(isGone).toBe(404);
    // Nothing but the agent deletes a job that somebody reads.
    expect(await findLive(world.old.name, `pods/${good}`)).toBeDefined();
  });

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
