import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConnections } from '../../../shared/runtime/services/connections.ts';
import { type GrpcHost, startGrpcHost } from '../../infra/host/grpc/grpc-host.ts';
import { createTlsFiles, type TlsFiles } from '../../infra/host/grpc/tls-files.ts';
import { startAgent } from '../../support/agents/agent-process.ts';
import { toDeploy } from '../../support/agents/agent-world.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '../../support/cluster/cluster.ts';
import { ApiCaller } from '../../support/system/api-caller.ts';

const testMs = 180_000;

class HostCaller extends ApiCaller {
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
  }

  override async describe(): Promise<string> {
    return '';
  }
}

describeWithCluster('an agent over gRPC with mutual TLS', (cluster) => {
  const stack = new AsyncDisposableStack();
  let tls: TlsFiles;
  let home: GrpcHost;
  let namespace: TestNamespace;
  let caller: HostCaller;
  beforeAll(async () => {
    namespace = stack.use(await createNamespace('grpc'));
    tls = stack.use(await createTlsFiles());
    const auth = { type: 'certificate', subjects: ['CN=edge'] };
    home = stack.use(
      await startGrpcHost({
        security: { ...tls.security, clientAuth: 'REQUIRE' },
        accounts: [{ name: 'shown', namespaces: [namespace.name], agent: { auth } }],
      }),
    );
    caller = new HostCaller(home.host.url);
  }, testMs);
  afterAll(() => stack.disposeAsync());

  async function start(commonName: string, account = commonName) {
    const files = {
      cacertFile: 'ca.crt',
      clientCertFile: `${commonName}.crt`,
      clientKeyFile: `${commonName}.key`,
    };
    const { certificate, key } = tls.clients.issue({ commonName });
    await writeFile(join(tls.dir.path, files.clientCertFile), certificate);
    await writeFile(join(tls.dir.path, files.clientKeyFile), key);
    const absolute = Object.entries(files).map(([name, file]) => [name, join(tls.dir.path, file)]);
    return startAgent({
      url: `grpcs://127.0.0.1:${home.port}`,
      token: await home.signer.sign(),
      accounts: [{ name: account, kubeConfigFile: cluster.kubeconfig }],
      tls: Object.fromEntries(absolute),
    });
  }

  test(
    'runs operations, and makes live reads, which are whole however large they are',
    async () => {
      await using agent = await start('edge');
      await expect.poll(() => agent.log, { timeout: 60_000 }).toContain('connected: Busdriver tells of work');
      const rows = await openConnections(home.host.services).list('edge');
      expect(rows).toMatchObject([{ transport: 'grpc', holder: 'spin-clouddriver-0' }]);
      const id = await caller.postOperations([toDeploy('edge', namespace.name, ['over-grpc'])]);
      const task = await caller.waitForTask(id, { timeoutMs: 60_000 });
      expect(task.status).toMatchObject({ completed: true, failed: false });
      const configMaps = `/api/v1/namespaces/${namespace.name}/configmaps`;
      expect(await findObject(`${configMaps}/over-grpc`)).toMatchObject({ data: { by: 'edge' } });

      // Several parts, also gzipped: nothing of it repeats.
      const large = randomBytes(400_000).toString('hex');
      await requestApi('POST', configMaps, { metadata: { name: 'large' }, data: { large } });
      const read = await fetch(new URL(`/manifests/edge/${namespace.name}/configMap%20large`, home.host.url));
      expect(read.status).toBe(200);
      const { manifest } = (await read.json()) as { manifest: { data: { large: string } } };
      expect(manifest.data.large).toBe(large);
      expect(agent.log).not.toContain('"level":"ERROR"');
    },
    testMs,
  );

  test(
    'keeps its account cached: views show what changes',
    async () => {
      await using agent = await start('edge', 'shown');
      const read = async (path: string): Promise<readonly { readonly [name: string]: unknown }[]> => {
        const answer = await fetch(new URL(path, home.host.url));
        return answer.ok ? ((await answer.json()) as []) : [];
      };
      const listNames = async (): Promise<readonly unknown[]> =>
        (await read('/applications/grpcshop/serverGroupManagers')).map(({ name }) => name);
      const isCached = async (): Promise<boolean> =>
        (await read('/cache/introspection')).some(
          ({ account, asOf }) => account === 'shown' && asOf !== undefined,
        );
      await expect.poll(isCached, { timeout: 90_000 }).toBe(true);
      expect(await openConnections(home.host.services).list('shown')).toMatchObject([{ transport: 'grpc' }]);
      expect(await listNames()).toEqual([]);

      const deployments = `/apis/apps/v1/namespaces/${namespace.name}/deployments`;
      const labels = { app: 'web' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } };
      await requestApi('POST', deployments, {
        metadata: { name: 'web', annotations: { 'moniker.spinnaker.io/application': 'grpcshop' } },
        spec: { replicas: 1, selector: { matchLabels: labels }, template },
      });
      await expect.poll(listNames, { timeout: 30_000 }).toEqual(['deployment web']);
      await requestApi('DELETE', `${deployments}/web`);
      await expect.poll(listNames, { timeout: 30_000 }).toEqual([]);
      expect(agent.log).not.toContain('"level":"ERROR"');
    },
    testMs,
  );

  test(
    'ends its session when it is told to stop, and leaves nothing running',
    async () => {
      const agent = await start('edge');
      await expect.poll(() => agent.log, { timeout: 60_000 }).toContain('"session with Busdriver"');
      expect(await agent.kill('SIGTERM')).toBe(0);
      await agent[Symbol.asyncDispose]();
    },
    testMs,
  );
});
