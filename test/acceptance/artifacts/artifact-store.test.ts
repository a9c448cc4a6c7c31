import { createHash } from 'node:crypto';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { type Subject, startSystem } from '#test/support/system/system.ts';

const bucket = 'spinnaker-artifacts';

describeWithCluster("Spinnaker's artifact store", (cluster) => {
  const stack = new AsyncDisposableStack();
  let aws: AwsEndpoints;
  let namespace: TestNamespace;
  let system: Subject;

  beforeAll(async () => {
    aws = stack.use(await startAwsEndpoints());
    namespace = stack.use(await createNamespace('store'));
    const settings = {
      kubernetes: { accounts: [{ name: 'test', kubeconfigFile: cluster.kubeconfig }] },
      'artifact-store': { type: 's3', s3: { enabled: true, bucket, region: 'eu-west-1' } },
    };
    system = stack.use(await startSystem({ settings }));
  });

  afterAll(() => stack.disposeAsync());

  function store(content: string, type = 'remote/map/base64'): JsonObject {
    const hash = createHash('sha256').update(content).digest('hex');
    aws.objects.set(`${bucket}/shop/${hash}`, content);
    const reference = `ref://shop/${hash}`;
    return { customKind: false, reference, metadata: {}, name: 'stored-entity', type };
  }

  const makeConfigMap = (name: string, data: JsonObject) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: namespace.name,
      annotations: { 'strategy.spinnaker.io/versioned': 'false' },
    },
    data,
  });

  const deploy = (description: JsonObject) => ({
    deployManifest: { account: 'test', moniker: { app: 'shop' }, ...description },
  });

  test('manifests that are references are deployed as what stands there', async () => {
    const one = store(JSON.stringify(makeConfigMap('one', { text: 'grüße' })));
    const list = { apiVersion: 'v1', kind: 'List', items: [makeConfigMap('three', {})] };
    const manifests = [one, makeConfigMap('two', { text: 'inline' }), store(JSON.stringify(list))];
    const stored = store('kind: what is embedded', 'remote/base64');

    const id = await system.postOperations([deploy({ manifests, optionalArtifacts: [stored] })]);
    const task = await system.waitForTask(id);

    expect(task.status).toMatchObject({ completed: true, failed: false });
    const reads = ['one', 'two', 'three'].map((name) =>
      openApi(CoreV1Api).readNamespacedConfigMap({ name, namespace: namespace.name }),
    );
    expect((await Promise.all(reads)).map(({ data }) => data?.['text'])).toEqual([
      'grüße',
      'inline',
      undefined,
    ]);
    expect(aws.calls.filter(({ action }) => action === 'GetObject')).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ accessKeyId: 'AKIAOWN', region: 'eu-west-1' })),
    ]);
  });

  test('what is not a manifest, not there or out of bounds is refused before anything is stored', async () => {
    const post = async (manifest: JsonObject): Promise<[number, string]> => {
      const response = await system.fetch('/kubernetes/ops', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([deploy({ manifests: [manifest] })]),
      });
      return [response.status, await response.text()];
    };
    const planted = 'planted-s3cr3t-value';
    const [status, text] = await post(store(`{"data": "${planted}"`));
    expect([status, text]).toEqual([400, expect.stringContaining('[0].deployManifest.manifests[0]')]);
    expect(text).not.toContain(planted);

    expect(await post(store('{"kind": 7}'))).toEqual([400, expect.stringContaining('apiVersion')]);
    const missing = { type: 'remote/map/base64', reference: 'ref://shop/abc123' };
    expect(await post(missing)).toEqual([400, expect.stringContaining('ref://shop/abc123')]);
    const escaping = { ...missing, reference: 'ref://../abc123' };
    expect(await post(escaping)).toEqual([400, expect.stringContaining('application')]);
    const large = store(JSON.stringify(makeConfigMap('large', { text: 'x'.repeat(7_000_000) })));
    expect(await post(large)).toEqual([413, expect.stringContaining('artifact store')]);
  });

  test('what stands there is answered in base 64, whatever its length', async () => {
    for (const content of ['', 'a', 'ab', 'abc', 'grüße'.repeat(100_000)]) {
      const { reference } = store(content);
      const path = String(reference).replace('ref://', '/artifacts/content-address/');
      const response = await system.fetch(path);
      expect(await response.json()).toEqual({ reference: Buffer.from(content).toString('base64') });
    }
    const response = await system.fetch('/artifacts/content-address/shop/abc123');
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining('ref://shop/abc123'),
    ]);
  });

  test('a bucket that may not be read says what to do', async () => {
    aws.objects.set(`${bucket}/shop/denied`, { status: 403, code: 'AccessDenied', message: 'no' });
    const response = await system.fetch('/artifacts/content-address/shop/denied');
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringMatching(/AccessDenied.*s3:GetObject.*artifactStoreBucket/),
    ]);
  });
});
