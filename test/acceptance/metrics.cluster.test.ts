import { expect, test } from 'vitest';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { findFreePort } from '#test/support/network/free-port.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { parsePrometheusText } from '#test/support/system/prometheus-text.ts';
import { startSystem } from '#test/support/system/system.ts';

describeWithCluster('npm start with --metrics-port', (cluster) => {
  test('shows requests, operations, tasks, refusals, calls of clusters and runs of caching agents', async () => {
    await using namespace = await createNamespace('metrics');
    const port = await findFreePort();
    await using system = await startSystem({
      kubeconfig: cluster.kubeconfig,
      args: ['--metrics-port', String(port)],
    });
    const id = await system.postOperations([toDeploy('kubecluster', namespace.name, ['measured'])]);
    expect((await system.waitForTask(id)).status).toMatchObject({ completed: true, failed: false });
    const refused = await system.fetch('/kubernetes/ops', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[{"deployManifest": {}}]',
    });
    expect(refused.status).toBe(400);

    const scrape = async () =>
      parsePrometheusText(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const find = async (name: string, labels: { readonly [name: string]: string }) => {
      const samples = [...(await scrape()).values()].flatMap((family) => family.samples);
      return samples.find((each) => {
        return (
          each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value)
        );
      })?.value;
    };
    const asked = { controller: 'operations', method: 'start-operations', statusCode: '400' };
    expect(await find('controller_invocations_seconds_count', asked)).toBe(1);
    const deployed = { OperationType: 'KubernetesDeployManifestOperation', success: 'true' };
    expect(await find('operations_seconds_count', deployed)).toBe(1);
    expect(await find('tasks_total', { success: 'true' })).toBe(1);
    expect(await find('validationErrors_total', { operation: 'deployManifest' })).toBe(1);
    const called = { account: 'kubecluster', action: 'post', success: 'true' };
    expect(await find('kubernetes_api_seconds_count', called)).toBeGreaterThan(0);
    await expect.poll(() => find('executionCount_total', { status: 'success' })).toBeGreaterThan(0);
  });
});
