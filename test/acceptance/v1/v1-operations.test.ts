import { beforeAll, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { listNames } from '#test/shared/providers/kubernetes/live.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { readFixture } from '#test/support/run/fixture.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

interface BadDescription {
  readonly operation: string;
  readonly prefix: string;
  readonly description: JsonObject;
  readonly errors: readonly string[];
}

const badDescriptions = readFixture<readonly BadDescription[]>('kubernetes-v1/bad-descriptions.yaml');

describeWithCluster('operations of V1 accounts over HTTP', (cluster) => {
  let ns: TestNamespace;
  let system: System;

  beforeAll(async () => {
    ns = await createNamespace('ops');
    const v1 = {
      ...{ providerVersion: 'v1', kubeconfigFile: cluster.kubeconfig, namespaces: [ns.name] },
      ...{ dockerRegistries: [{ accountName: 'hub' }], configureImagePullSecrets: false },
    };
    const accounts = [
      { name: 'old', ...v1 },
      { name: 'closed', ...v1, requiredGroupMembership: ['staff'] },
      { name: 'new', kubeconfigFile: cluster.kubeconfig },
    ];
    system = await startSystem({
      settings: { kubernetes: { accounts } },
    });
  });
  disposeAfterAll(() => [system, ns]);

  async function post(path: string, body: JsonValue, headers: { readonly [name: string]: string } = {}) {
    const response = await system.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: (await response.json()) as JsonObject };
  }

  const create = (fields: JsonObject): JsonObject => ({
    createServerGroup: {
      ...{ account: 'old', namespace: ns.name, targetSize: 0 },
      containers: [{ name: 'web', imageDescription: { uri: 'registry.test/web:1' } }],
      ...fields,
    },
  });

  it('are taken at /kubernetesV1/ops, one or many, and as a provider that a description names', async () => {
    const [one] = Object.values(create({ application: 'two' }));
    const named = create({ application: 'three', cloudProvider: 'kubernetesV1' });
    const answers = [
      await post('/kubernetesV1/ops', [create({ application: 'one' })]),
      await post('/kubernetesV1/ops/createServerGroup', one ?? null),
      await post('/ops', [named]),
    ];
    for (const { status, answer } of answers) {
      expect([status, answer]).toMatchObject([200, { id: expect.any(String) }]);
      await system.waitForTask(String(answer['id']));
    }
    expect(await listNames(ns.name, 'replicasets')).toEqual(['one-v000', 'three-v000', 'two-v000']);
  });

  it.each([
    [{ resizeServerGroup: { account: 'new', serverGroupName: 'kub-v000', capacity: { desired: 1 } } }],
    [{ resizeServerGroup: { account: 'nobody', serverGroupName: 'kub-v000', capacity: { desired: 1 } } }],
  ])('of accounts that are none of V1 are refused at /kubernetesV1/ops: %j', async (operation) => {
    const { status, answer } = await post('/kubernetesV1/ops', [operation]);
    const error = 'resizeKubernetesAtomicOperationDescription.account.notFound';
    expect([status, answer]).toMatchObject([400, { errors: [error] }]);
  });

  it('are none of those of V2 at /kubernetesV1/ops', async () => {
    const { status, answer } = await post('/kubernetesV1/ops', [{ deployManifest: { account: 'new' } }]);
    const message = expect.stringMatching(
      /^Unknown operation 'deployManifest' of provider 'kubernetesV1'; it has: createServerGroup, cloneServerGroup, /,
    );
    expect([status, answer]).toMatchObject([400, { errors: [message] }]);
  });

  it.each(badDescriptions)('tell all that is wrong with $operation: $description', async (bad) => {
    const { operation, prefix, description, errors } = bad;
    const wrong = { [operation]: { account: 'old', ...description } };
    const expected = errors.map((error) => `${prefix}.${error}`);
    expect(await post('/kubernetes/ops', [wrong])).toEqual({
      status: 400,
      answer: expect.objectContaining({ message: 'Validation Failed', errors: expected }),
    });
    // Where the account is wrong nothing else is looked at.
    const unknown = { [operation]: { ...description, account: 'nobody' } };
    const { status, answer } = await post('/kubernetesV1/ops', [unknown, wrong]);
    expect([status, answer['errors']]).toEqual([400, [`${prefix}.account.notFound`, ...expected]]);
  });

  it('tell of all operations of a request what is wrong with them', async () => {
    const wrong = badDescriptions.filter(({ errors }) => errors.length < 5);
    const operations = wrong.map(({ operation, description }) => ({
      [operation]: { account: 'old', ...description },
    }));
    const { status, answer } = await post('/kubernetes/ops', operations);
    const expected = wrong.flatMap(({ prefix, errors }) => errors.map((error) => `${prefix}.${error}`));
    expect([status, answer['errors']]).toEqual([400, expected]);
    expect(new Set(badDescriptions.map(({ operation }) => operation)).size).toBe(17);
  });

  it('of ten megabytes of containers are too large', async () => {
    const container = {
      name: 'web',
      imageDescription: { uri: 'registry.test/web:1' },
      args: ['a'.repeat(1_000)],
    };
    const containers = Array.from({ length: 10_000 }, () => container);
    const { status } = await post('/kubernetes/ops', [create({ application: 'large', containers })]);
    expect(status).toBe(413);
    expect(await listNames(ns.name, 'replicasets')).not.toContain('large-v000');
  });

  it('need the right to read where they copy from', async () => {
    const source = { account: 'closed', serverGroupName: 'gone-v000', namespace: ns.name };
    const operations = [{ cloneServerGroup: { account: 'old', source } }];
    const refused = await post('/kubernetes/ops', operations, { 'X-SPINNAKER-ACCOUNTS': 'old' });
    expect(refused).toMatchObject({ status: 400, answer: { errors: ['Access denied to account closed'] } });
    const allowed = await post('/kubernetes/ops', operations, { 'X-SPINNAKER-ACCOUNTS': 'closed' });
    expect(allowed.status).toBe(200);
  });

  it.each(['/kubernetes/ops', '/kubernetesV1/ops'])('need the right to write at %s', async (path) => {
    const operations = [{ destroyServerGroup: { account: 'closed', serverGroupName: 'gone-v000' } }];
    const refused = await post(path, operations, { 'X-SPINNAKER-ACCOUNTS': 'old,new' });
    expect(refused).toMatchObject({ status: 400, answer: { errors: ['Access denied to account closed'] } });
    const allowed = await post(path, operations, { 'X-SPINNAKER-ACCOUNTS': 'closed' });
    expect(allowed.status).toBe(200);
  });
});
