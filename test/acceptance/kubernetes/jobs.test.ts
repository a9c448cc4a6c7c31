import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { findLive, listNames } from '#test/shared/providers/kubernetes/live.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

interface JobAnswer {
  readonly jobState: string;
  readonly provider: string;
  readonly mostRecentPodName: string;
  readonly pods: readonly { readonly name: string; readonly status: { readonly phase: string } }[];
}

describeWithCluster('a runJob stage, as Orca runs it', (cluster) => {
  let system: Subject;
  let ns: TestNamespace;

  beforeAll(async () => {
    ns = await createNamespace('jobs');
    system = await startSubject({ kubeconfig: cluster.kubeconfig });
  });
  disposeAfterAll(() => [system, ns]);

  /** Starts a Job and gives where Orca asks for it: it knows the Job from `deployedNamesByLocation` alone. */
  async function startJob(metadata: JsonObject, annotations: JsonObject): Promise<string> {
    const containers = [{ name: 'main', image: 'registry.test/job:1' }];
    const template = { metadata: { annotations }, spec: { restartPolicy: 'Never', containers } };
    const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { backoffLimit: 0, template } };
    const [account] = system.accounts;
    const description = {
      ...{ account, credentials: account, cloudProvider: 'kubernetes', application: 'shop' },
      ...{ namespace: ns.name, source: 'text', manifest, requiredArtifacts: [], optionalArtifacts: [] },
    };
    const task = await system.waitForTask(await system.postOperations([{ runJob: description }]));
    expect(task.status).toMatchObject({ failed: false });
    const [result] = task.resultObjects as readonly { deployedNamesByLocation: Record<string, string[]> }[];
    const [[location, [name]]] = Object.entries(result?.deployedNamesByLocation ?? {}) as [
      [string, [string]],
    ];
    return `/applications/shop/jobs/${account}/${location}/${encodeURIComponent(name)}`;
  }

  async function waitForJob(target: string): Promise<JobAnswer> {
    const read = async () => (await (await system.fetch(target)).json()) as JobAnswer;
    await expect.poll(async () => (await read()).jobState).not.toBe('Running');
    return read();
  }

  it('goes on with what the Job wrote', async () => {
    const logs = 'SPINNAKER_PROPERTY_Release=r-17\n';
    const target = await startJob(
      { generateName: 'smoke-' },
      { 'kubecluster.test/outcome': 'succeed', 'kubecluster.test/logs': logs },
    );
    const job = await waitForJob(target);
    expect(job).toMatchObject({ jobState: 'Succeeded', provider: 'kubernetes' });
    expect(await (await system.fetch(`${target}/main`)).json()).toEqual({ release: 'r-17' });
    const pod = job.pods.find(({ status }) => status.phase === 'Succeeded')?.name;
    const [account] = system.accounts;
    const ofPod = `/applications/shop/kubernetes/pods/${account}/${ns.name}/${pod}/main`;
    expect(await (await system.fetch(ofPod)).json()).toEqual({ release: 'r-17' });
    const console = await system.fetch(
      `/instances/${account}/${ns.name}/pod%20${pod}/console?provider=kubernetes`,
    );
    expect(await console.json()).toEqual({ output: [{ name: 'main', output: logs }] });
    const details = await system.fetch(target, { method: 'POST' });
    expect(await details.json()).toMatchObject({ jobState: 'Succeeded' });
  });

  it('ends with the reason why the Job failed', async () => {
    const outcome = { 'kubecluster.test/outcome': 'fail', 'kubecluster.test/exit-code': '2' };
    const job = await waitForJob(await startJob({ name: 'broken' }, outcome));
    expect(job).toMatchObject({
      jobState: 'Failed',
      reason: 'BackoffLimitExceeded',
      failureDetails: expect.stringContaining('exited with code: 2.'),
    });
  });

  it('is cancelled with the Job and its pods', async () => {
    const target = await startJob({ name: 'endless' }, { 'kubecluster.test/outcome': 'run' });
    const listPods = async () =>
      (await listNames(ns.name, 'pods')).filter((name) => name.startsWith('endless'));
    await expect.poll(listPods).toHaveLength(1);
    expect((await system.fetch(target, { method: 'DELETE' })).status).toBe(200);
    await expect.poll(() => findLive(ns.name, 'jobs/endless')).toBeUndefined();
    await expect.poll(listPods).toEqual([]);
    expect((await system.fetch(target)).status).toBe(404);
    expect((await system.fetch(target, { method: 'DELETE' })).status).toBe(404);
  });
});
