import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import { peerAudience } from '#infra/kubernetes/peers/peer-tokens.ts';
import { type Host, startHost } from '#infra/kubernetes/runtime.ts';
import { listNames } from '#test/shared/providers/kubernetes/live.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { type Clouddriver, startClouddriver } from '#test/support/services/clouddriver.ts';
import { startHomeEngines } from './engines.ts';
import { createPod } from './pod.ts';

const manifestsCount = 20;
/** 20 MB with them all: more than Lambda takes. */
const text = 'x'.repeat(1_000_000);
/** 32 KB: 400 accounts and more. API Gateway takes a third of that. */
const accounts = Array.from({ length: 1_500 }, (_, index) => `account-of-a-team-${index + 10_000}`).join();
const clusters = 'c'.repeat(8_000);

describeWithCluster('requests that API Gateway and Lambda do not take, to a replica', ({ kubeconfig }) => {
  const stack = new AsyncDisposableStack();
  let host: Host;
  let namespace: TestNamespace;
  let upstream: Clouddriver;

  beforeAll(async () => {
    const engines = stack.use(await startHomeEngines());
    const pod = stack.use(await createPod());
    await pod.letReviewTokens();
    namespace = stack.use(await createNamespace('large'));
    upstream = stack.use(await startClouddriver());
    const account = { name: 'ours', kubeconfigFile: kubeconfig, namespaces: [namespace.name] };
    const busdriver = { upstream: { baseUrl: upstream.url } };
    const config = join(engines.dir, 'clouddriver.yml');
    await writeFile(config, JSON.stringify({ kubernetes: { accounts: [account] }, busdriver }));
    host = stack.use(
      await startHost({
        ...{ host: '127.0.0.1', port: 0, allowedHosts: [], configFiles: [config], profiles: [] },
        ...{ logLevel: 'SILENT', namePrefix: '', createsResources: false, shutdownTimeoutMs: 1_000 },
        podName: 'spin-clouddriver-0',
        environment: { ...engines.environment, ...pod.environment },
        serviceAccountDirectory: pod.directory,
        peerTokenFile: await pod.writeToken(peerAudience),
      }),
    );
  });
  afterAll(() => stack.disposeAsync());

  async function post(target: string, body: JsonValue) {
    const headers = { 'content-type': 'application/json', 'X-SPINNAKER-ACCOUNTS': accounts };
    const response = await fetch(new URL(target, host.url), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as { readonly id: string } };
  }

  test('operations of 20 MB are done', async () => {
    const manifests = Array.from({ length: manifestsCount }, (_, index) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { text } },
      metadata: {
        ...{ name: `large-${index}`, namespace: namespace.name },
        annotations: {
          'strategy.spinnaker.io/versioned': 'false',
          'strategy.spinnaker.io/server-side-apply': 'true',
        },
      },
    }));
    const deploy = { deployManifest: { account: 'ours', moniker: { app: 'large' }, manifests } };
    const { status, body } = await post(`/kubernetes/ops?note=${clusters}`, [deploy]);
    expect([status, body]).toEqual([200, expect.anything()]);
    await expect
      .poll(async () => (await fetch(new URL(`/task/${body.id}`, host.url))).json())
      .toMatchObject({ status: { completed: true, failed: false } });
    expect(await listNames(namespace.name, 'configmaps')).toHaveLength(manifestsCount);
  });

  test('and go upstream, with their headers and their query', async () => {
    upstream.answer = (_, response) => void response.end('{"id":"t1"}');
    const body = [{ createServerGroup: { credentials: 'ec2', userData: text.repeat(manifestsCount) } }];
    expect(await post(`/aws/ops?note=${clusters}`, body)).toEqual({ status: 200, body: { id: 't1' } });
    const [call] = upstream.calls;
    expect(call?.headers['x-spinnaker-accounts']).toBe(accounts);
    expect(call?.path).toBe(`/aws/ops?note=${clusters}`);
    expect(call?.body.length).toBe(JSON.stringify(body).length);
  });

  test('what is larger is refused with its limit', async () => {
    expect(await post('/aws/ops', [{ createServerGroup: { userData: text.repeat(24) } }])).toMatchObject({
      status: 413,
      body: { message: expect.stringContaining('23068672 bytes that are accepted') },
    });
  });
});
