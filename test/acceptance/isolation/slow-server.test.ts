import { expect, it } from 'vitest';
import { type Fault, type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { startSystem } from '#test/support/system/system.ts';

const deployCount = 40;
/** So long a starved API server takes to say that it is alive. */
const livezMs = 5_000;
/** Some answers take longer than a server is waited for before it is asked. */
const slowMs = 7_000;
/** Of what a deploy asks for. */
const objects = /\/configmaps(\/|$)/;

/** A fifth of the calls fails, and each tenth is slow. */
function createFaults(): (call: PassingCall) => Fault | undefined {
  const statuses = [500, 502, 504] as const;
  let calls = 0;
  return ({ path }) => {
    if (path === '/livez') return { type: 'latency', ms: livezMs };
    if (!objects.test(path)) return undefined;
    calls += 1;
    if (calls % 5 === 0) return { type: 'status', status: statuses[(calls / 5) % 3] ?? 500 };
    return calls % 10 === 3 ? { type: 'latency', ms: slowMs } : undefined;
  };
}

describeWithCluster('an account whose API server is slow, and often fails', (cluster) => {
  it('has all its deploys done: it is not taken for dead, and what may be repeated is', async () => {
    await using namespace = await createNamespace('slow');
    const seen = { asked: 0 };
    const getFault = createFaults();
    await using proxy = await startApiProxy(cluster, {
      getFault(call) {
        if (call.path === '/livez') seen.asked += 1;
        return getFault(call);
      },
    });
    await using system = await startSystem({
      settings: { kubernetes: { accounts: [{ name: 'slow', kubeconfigFile: proxy.kubeconfig }] } },
    });
    const ids = await Promise.all(
      Array.from({ length: deployCount }, (_, index) =>
        system.postOperations([toDeploy('slow', namespace.name, [`config-${index}`])]),
      ),
    );
    const tasks = await Promise.all(ids.map((id) => system.waitForTask(id, { timeoutMs: 240_000 })));
    const failures = tasks.filter(({ status }) => status.failed).map(({ resultObjects }) => resultObjects);
    expect(failures).toEqual([]);
    expect(seen.asked).toBeGreaterThan(0);
  });
});
