import { expect, it } from 'vitest';
import { createNamespace, describeWithCluster, kubectl } from '#test/support/cluster/cluster.ts';
import { startSubject } from '#test/support/system/subject.ts';

describeWithCluster('large input', (cluster) => {
  it('of 400 manifests in a body of 3 MB deploys', async () => {
    await using namespace = await createNamespace('large');
    await using system = await startSubject({ kubeconfig: cluster.kubeconfig });
    const filler = 'x'.repeat(7_500);
    const manifests = Array.from({ length: 400 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `large-${index}`,
        namespace: namespace.name,
        annotations: { 'strategy.spinnaker.io/versioned': 'false' },
      },
      data: { index: String(index), filler },
    }));
    const operations = [
      { deployManifest: { account: system.accounts[0], moniker: { app: 'large' }, manifests } },
    ];
    expect(JSON.stringify(operations).length).toBeGreaterThan(3_000_000);

    const id = await system.postOperations(operations, {});
    const view = await system.waitForTask(id, { timeoutMs: 120_000 });

    expect(view.status).toMatchObject({ completed: true, failed: false });
    const [result] = view.resultObjects as { manifests: unknown[]; manifestNamesByNamespace: object }[];
    expect(result?.manifests).toHaveLength(400);
    const text = await kubectl(['-n', namespace.name, 'get', 'configmaps', '-o', 'json']);
    const { items } = JSON.parse(text) as {
      items: { metadata: { name: string }; data: { index?: string } }[];
    };
    const deployed = items.filter(({ metadata }) => metadata.name.startsWith('large-'));
    expect(deployed).toHaveLength(400);
    expect(deployed.every(({ metadata, data }) => metadata.name === `large-${data.index}`)).toBe(true);
  });

  it("that the API server refuses fails the task with the server's own words", async () => {
    await using namespace = await createNamespace('large');
    await using system = await startSubject({ kubeconfig: cluster.kubeconfig });
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'too-large', namespace: namespace.name },
      data: { filler: 'x'.repeat(1_100_000) },
    };
    const id = await system.postOperations(
      [{ deployManifest: { account: system.accounts[0], moniker: { app: 'large' }, manifests: [manifest] } }],
      {},
    );

    const view = await system.waitForTask(id, { timeoutMs: 60_000 });

    expect(view.status).toMatchObject({ completed: true, failed: true });
    const exception = view.resultObjects.find((one) => (one as { type?: string }).type === 'EXCEPTION');
    // Of the limits that it breaks the API server tells the one on annotations first: kubectl apply meets the same.
    expect((exception as { message: string }).message).toMatch(/Too long: may not be more than 262144 bytes/);
  });
});
