import { expect, it, vi } from 'vitest';
import { createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startSystem } from '#test/support/system/system.ts';

const names = Array.from({ length: 16 }, (_, index) => `web-${index}`);

/** So long that only what the deploys themselves note can show them. */
const intervalSeconds = 600;

describeWithCluster('sixteen deploys at once of one application', (cluster) => {
  it('are each listed as soon as they are completed', async () => {
    await using namespace = await createNamespace('at-once');
    const { name: application } = namespace;
    const account = { name: 'prod', kubeconfigFile: cluster.kubeconfig, namespaces: [application] };
    const accounts = [{ ...account, cacheMode: 'interval', cacheIntervalSeconds: intervalSeconds }];
    await using system = await startSystem({ settings: { kubernetes: { enabled: true, accounts } } });
    const isCached = async () =>
      expect((await system.fetch('/applications')).headers.get('x-busdriver-lag')).toMatch(/=\d+$/);
    await vi.waitFor(isCached, { timeout: 90_000, interval: 250 });

    const deploy = async (name: string) => {
      const web = createWorkload('Deployment', name, { namespace: application, replicas: 0 });
      const description = { account: 'prod', moniker: { app: application }, manifests: [web] };
      const id = await system.postOperations([{ deployManifest: description }]);
      const { status } = await system.waitForTask(id, { timeoutMs: 120_000 });
      expect(status.status).toBe('Orchestration completed.');
      const clusters = await (await system.fetch(`/applications/${application}/clusters`)).json();
      expect(clusters).toEqual({ prod: expect.arrayContaining([`deployment ${name}`]) });
    };
    await Promise.all(names.map(deploy));
  });
});
