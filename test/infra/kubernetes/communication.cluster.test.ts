import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AuthorizationV1Api, CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Host, startHost } from '#infra/kubernetes/runtime.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { describeWithCluster, kubectl, requestApi } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { type HomeEngines, startHomeEngines } from './engines.ts';
import type { PodRule, TestPod } from './pod.ts';
import { createPod, openToManagers, watchEndpoints, writeEndpoints } from './pod.ts';

/** Replicas as `GET /armory/clouddrivers` answers them. */
interface ShownReplica {
  readonly baseUrl: string;
  readonly id: string;
  readonly lastUpdated: string;
  readonly ready: boolean;
}

/** A replica whose calls of its API server all go through a proxy. Disposing ends it. */
interface WatchedReplica extends AsyncDisposable {
  readonly host: Host;
  readonly pod: TestPod;
  readonly proxy: ApiProxy;
  /** What it answers when it is asked for all replicas. */
  list(): Promise<readonly ShownReplica[]>;
}

describeWithCluster('how a replica learns of the others', (cluster) => {
  const stack = new AsyncDisposableStack();
  let engines: HomeEngines;
  beforeAll(async () => {
    engines = stack.use(await startHomeEngines());
  });
  afterAll(() => stack.disposeAsync());

  async function startReplica(rules: readonly PodRule[] = [watchEndpoints]): Promise<WatchedReplica> {
    await using starting = new AsyncDisposableStack();
    const pod = starting.use(await createPod(rules));
    const proxy = starting.use(await startApiProxy(cluster, { breaksHandshake: () => false }));
    const config = path.join(pod.directory, 'clouddriver.yml');
    await writeFile(
      config,
      JSON.stringify({ kubernetes: { enabled: true, accounts: [] }, ...openToManagers }),
    );
    const environment = await leadThrough(proxy, pod);
    const host = starting.use(
      await startHost({
        ...{ host: '127.0.0.1', port: 0, allowedHosts: [], configFiles: [config], profiles: ['local'] },
        ...{ logLevel: 'SILENT', namePrefix: '', createsResources: false, shutdownTimeoutMs: 1_000 },
        podName: 'spin-clouddriver-0',
        environment: { ...engines.environment, ...environment },
        serviceAccountDirectory: pod.directory,
        peerTokenFile: path.join(pod.directory, 'token'),
      }),
    );
    const running = starting.move();
    return {
      ...{ host, pod, proxy },
      async list() {
        const response = await fetch(new URL('/armory/clouddrivers', host.url));
        return (await response.json()) as readonly ShownReplica[];
      },
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }

  test.each([
    { rules: [watchEndpoints], list: true, watch: true },
    { rules: [{ ...watchEndpoints, verbs: ['list'] }], list: true, watch: false },
    { rules: [{ ...watchEndpoints, verbs: ['watch'] }], list: false, watch: true },
  ])(
    'it takes for its rights what kubectl auth can-i answers: list $list, watch $watch',
    async ({ rules, list, watch }) => {
      await using replica = await startReplica(rules);
      const { pod, host } = replica;
      await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.0.15.246' } });

      expect([await canI('list', pod), await canI('watch', pod)]).toEqual([list, watch]);
      const isGranted = list && watch;
      await expect.poll(() => host.peers.state).toBe(isGranted ? 'watching' : 'forbidden');
      await expect
        .poll(async () => (await replica.list()).map(({ id }) => id))
        .toEqual(isGranted ? ['a'] : []);
    },
  );

  test('it finds what kubectl get endpoints shows, of that the entries with the prefix and the port', async () => {
    await using replica = await startReplica();
    const { pod } = replica;
    await writeEndpoints(pod, 'spin-clouddriver-rw', { ready: { rw: '10.0.15.1' } });
    await writeEndpoints(pod, 'spin-clouddriver-ro', { ready: { ro: '10.0.15.2' }, port: 7003 });
    await writeEndpoints(pod, 'spin-clouddriver-grpc', { ready: { rw: '10.0.15.1' }, portName: 'other' });
    await writeEndpoints(pod, 'spin-orca', { ready: { orca: '10.0.15.3' } });

    const shown = await openApi(CoreV1Api).listNamespacedEndpoints({ namespace: pod.namespace.name });
    const expected = shown.items
      .filter(({ metadata }) => metadata?.name?.startsWith('spin-clouddriver'))
      .flatMap(({ subsets = [] }) => subsets)
      .flatMap(({ addresses = [], ports = [] }) =>
        ports
          .filter(({ name }) => name === 'http')
          .flatMap(({ port }) =>
            addresses.map(({ ip, targetRef }) => `${targetRef?.name} http://${ip}:${port}`),
          ),
      );
    expect(expected).toHaveLength(2);
    await expect
      .poll(async () => (await replica.list()).map(({ id, baseUrl }) => `${id} ${baseUrl}`))
      .toEqual(expected.sort());
  });

  test('it asks its API server four times, and never again whatever changes and whoever asks it', async () => {
    await using replica = await startReplica();
    const { pod, proxy } = replica;
    for (let count = 1; count <= 20; count += 1) {
      const names = Array.from({ length: count }, (_, index) => `pod-${String(index).padStart(2, '0')}`);
      const ready = Object.fromEntries(names.map((name, index) => [name, `10.0.16.${index + 1}`]));
      await writeEndpoints(pod, 'spin-clouddriver', { ready });
      await expect.poll(async () => (await replica.list()).map(({ id }) => id)).toEqual(names);
    }

    const endpoints = `/api/v1/namespaces/${pod.namespace.name}/endpoints`;
    expect(proxy.calls.map(({ method, path: target }) => `${method} ${target}`)).toEqual([
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      `GET ${endpoints}`,
      `GET ${endpoints}`,
    ]);
  });

  test('ready of GET /armory/clouddrivers is what the column Ready of kubectl get pods shows', async () => {
    await using replica = await startReplica();
    const { pod } = replica;
    const core = `/api/v1/namespaces/${pod.namespace.name}`;
    await requestApi('POST', `${core}/services`, {
      metadata: { name: 'spin-clouddriver' },
      spec: { selector: { app: 'clouddriver' }, ports: [{ name: 'http', port: 7002 }] },
    });
    const names = ['spin-clouddriver-766c678c6c-scg68', 'spin-clouddriver-766c678c6c-x2xvd'];
    for (const name of names) {
      await requestApi('POST', `${core}/pods`, {
        metadata: { name, labels: { app: 'clouddriver' } },
        spec: { containers: [{ name: 'main', image: 'registry.test/busdriver:1' }] },
      });
    }
    const expectReady = async (...ready: boolean[]) => {
      const wanted = names.map((name, index) => `${name} ${ready[index] ? '1/1' : '0/1'}`);
      await expect.poll(() => listReadyColumn(pod)).toEqual(wanted);
      await expect
        .poll(async () => (await replica.list()).map((each) => `${each.id} ${each.ready ? '1/1' : '0/1'}`))
        .toEqual(wanted);
    };

    await expectReady(true, true);
    await requestApi('PATCH', `${core}/pods/${names[1]}`, {
      metadata: { annotations: { 'kubecluster.test/outcome': 'not-ready' } },
    });
    await expectReady(true, false);
    const pods = await openApi(CoreV1Api).listNamespacedPod({ namespace: pod.namespace.name });
    expect(await replica.list()).toEqual(
      pods.items.map(({ metadata, status }, index) => ({
        baseUrl: `http://${status?.podIP}:7002`,
        id: metadata?.name,
        lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ready: index === 0,
      })),
    );
  });
});

/** Has a pod reach its API server by way of a proxy. @returns the variables that say where it is */
async function leadThrough(proxy: ApiProxy, { directory }: TestPod): Promise<{ [name: string]: string }> {
  const { clusters } = JSON.parse(await readFile(proxy.kubeconfig, 'utf8'));
  const { server, 'certificate-authority-data': authority } = clusters[0].cluster;
  await writeFile(path.join(directory, 'ca.crt'), Buffer.from(authority, 'base64'));
  const { hostname, port } = new URL(server);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}

/** What `kubectl auth can-i` answers a pod's service account. */
async function canI(verb: string, { namespace: { name } }: TestPod): Promise<boolean> {
  const user = `system:serviceaccount:${name}:spin-clouddriver`;
  const spec = { user, resourceAttributes: { verb, resource: 'endpoints', namespace: name } };
  const { status } = await openApi(AuthorizationV1Api).createSubjectAccessReview({ body: { spec } });
  return status?.allowed === true;
}

/** Names and the column Ready, as kubectl shows them: `spin-clouddriver-766c678c6c-scg68 1/1`. */
async function listReadyColumn({ namespace }: TestPod): Promise<readonly string[]> {
  const text = await kubectl(['get', 'pods', '--namespace', namespace.name, '--no-headers']);
  return text
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/).slice(0, 2).join(' '));
}
