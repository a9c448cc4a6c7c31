import { beforeAll, describe, expect, test } from 'vitest';
import { NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { InstanceReader, JobReader } from '#provider-kit/live-reads.ts';
import type { Provider } from '#provider-kit/provider.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { readUid } from '#providers/kubernetes/operations/steps/deletion.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { answerJson, answerStatus, startScriptedServer } from '../client/scripted-server.ts';
import { createLive, findLive, listNames } from '../live.ts';
import { createManifest } from '../manifests.ts';
import { openProvider } from '../provider-setup.ts';

/** How the kubelet of the test cluster lets a container end, and what it writes. */
interface Outcome {
  readonly outcome: 'succeed' | 'fail' | 'run';
  readonly logs?: string;
  readonly 'exit-code'?: string;
  readonly message?: string;
}

const openJobs = (provider: Provider) => toSet(provider).getLiveReader('test', 'jobs');

const toAnnotations = (fields: object) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [`kubecluster.test/${key}`, String(value)]),
  );

describeWithCluster('jobs', (cluster) => {
  const accounts = [{ name: 'test', kubeconfigFile: cluster.kubeconfig }];
  const provider = openProvider(accounts);
  const sparing = openProvider(accounts, {
    settings: { kubernetes: { jobs: { 'detailed-pod-status': false } } },
  });
  let reader: JobReader;
  let instances: InstanceReader;
  beforeAll(async () => {
    reader = await openJobs(provider);
    instances = await toSet(provider).getLiveReader('test', 'instances');
  });
  disposeAfterAll(() => [provider, sparing]);

  async function createJob(namespace: string, outcome: Outcome, spec: JsonObject = {}): Promise<void> {
    const annotations = toAnnotations(outcome);
    const containers = [{ name: 'main', image: 'registry.test/job:1' }];
    await createLive(namespace, 'jobs', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'smoke' },
      spec: {
        backoffLimit: 0,
        template: { metadata: { annotations }, spec: { restartPolicy: 'Never', containers } },
        ...spec,
      },
    });
  }

  async function readJob(location: string, from = reader): Promise<JsonObject> {
    return JSON.parse(JSON.stringify(await from.getJob({ account: 'test', location, name: 'job smoke' })));
  }

  async function waitForState(location: string, jobState: string): Promise<void> {
    await expect.poll(() => readJob(location)).toMatchObject({ jobState });
  }

  test('one that succeeds, with its pod and the properties that it wrote', async () => {
    await using ns = await createNamespace();
    const logs = 'hello\nSPINNAKER_PROPERTY_Version=1.2\nSPINNAKER_CONFIG_JSON={"run":12}\n';
    await createJob(ns.name, { outcome: 'succeed', logs });
    await createLive(ns.name, 'pods', {
      metadata: { name: 'someone-else' },
      spec: { containers: [{ name: 'main', image: 'registry.test/web:1' }] },
    });
    await waitForState(ns.name, 'Succeeded');
    const [pod = ''] = await listNames(ns.name, 'pods');
    expect(await readJob(ns.name)).toEqual({
      name: 'smoke',
      account: 'test',
      location: ns.name,
      provider: 'kubernetes',
      createdTime: expect.any(Number),
      jobState: 'Succeeded',
      completionDetails: { exitCode: '', signal: '', message: '', reason: '' },
      mostRecentPodName: pod,
      pods: [{ name: pod, status: expect.objectContaining({ phase: 'Succeeded' }) }],
    });
    const job = { account: 'test', location: ns.name, name: 'job smoke' };
    expect(await reader.getFileContents(job, 'main')).toEqual({ version: '1.2', run: 12 });
    expect(await reader.getFileContents(job, 'other')).toEqual({});
    const onePod = { account: 'test', location: ns.name, name: pod };
    expect(await instances.getFileContents(onePod, 'main')).toEqual({ version: '1.2', run: 12 });
    expect(await instances.getFileContents({ ...onePod, name: 'missing' }, 'main')).toEqual({});
    const ended = await (await openJobs(sparing)).getJob(job);
    expect(ended).toMatchObject({ mostRecentPodName: pod, pods: [] });
  });

  test('one that fails, with the reason and what its container ended with', async () => {
    await using ns = await createNamespace();
    await createJob(ns.name, { outcome: 'fail', 'exit-code': '3', message: 'no disk' });
    await waitForState(ns.name, 'Failed');
    const [pod = ''] = await listNames(ns.name, 'pods');
    const { completionDetails, message, reason, failureDetails } = await readJob(ns.name);
    expect(message).toContain('backoff limit');
    expect(reason).toBe('BackoffLimitExceeded');
    expect(completionDetails).toEqual({ exitCode: '', signal: '', message, reason });
    expect(String(failureDetails).split('\n')).toEqual([
      `Pod: '${pod}' had errors.`,
      " Container: 'main' exited with code: 3.",
      ' Status: Error.',
      ' Logs: no disk',
    ]);
  });

  test('one that failed and succeeded at last: the log is that of the pod that succeeded', async () => {
    await using ns = await createNamespace();
    await createJob(ns.name, { outcome: 'fail', logs: 'SPINNAKER_PROPERTY_a=1' }, { backoffLimit: 6 });
    const job = { account: 'test', location: ns.name, name: 'job smoke' };
    await expect.poll(() => reader.getFileContents(job, 'main')).toEqual({ a: '1' });
    expect(await readJob(ns.name)).toMatchObject({ jobState: 'Running' });
    const uid = readUid((await findLive(ns.name, 'jobs/smoke')) as Manifest) ?? '';
    const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.test/job:1' }] };
    const labels = { 'batch.kubernetes.io/controller-uid': uid };
    const annotations = toAnnotations({ outcome: 'succeed', logs: 'SPINNAKER_PROPERTY_a=2' });
    const parts = { name: 'smoke-better', labels, annotations, more: { spec } };
    const better = createManifest('v1', 'Pod', parts);
    // The Job's controller adopts it, and may end it as one pod too many before it has succeeded.
    const askAgain = async () => {
      if ((await findLive(ns.name, 'pods/smoke-better')) === undefined)
        await createLive(ns.name, 'pods', better);
      return reader.getFileContents(job, 'main');
    };
    await expect.poll(askAgain).toEqual({ a: '2' });
  });

  test('is cancelled with its pods', async () => {
    await using ns = await createNamespace();
    await createJob(ns.name, { outcome: 'run' });
    await expect.poll(() => listNames(ns.name, 'pods')).toHaveLength(1);
    const job = { account: 'test', location: ns.name, name: 'job smoke' };
    await reader.cancelJob(job);
    await expect.poll(() => findLive(ns.name, 'jobs/smoke')).toBeUndefined();
    await expect.poll(() => listNames(ns.name, 'pods')).toEqual([]);
    await expect(reader.cancelJob(job)).rejects.toThrow(NotFoundError);
  });

  test('is left alone by who means one that had its name before', async () => {
    await using ns = await createNamespace();
    await createJob(ns.name, { outcome: 'run' });
    const job = { account: 'test', location: ns.name, name: 'job smoke' };
    const uid = readUid((await findLive(ns.name, 'jobs/smoke')) as Manifest);
    await reader.cancelJob({ ...job, uid: 'another' });
    expect(readUid((await findLive(ns.name, 'jobs/smoke')) as Manifest)).toBe(uid);
    await reader.cancelJob({ ...job, uid });
    await expect.poll(() => findLive(ns.name, 'jobs/smoke')).toBeUndefined();
    // It is gone, as it was to be.
    await reader.cancelJob({ ...job, uid });
  });

  test.each(['job missing', 'deployment smoke', 'smoke', 'job ..', 'job a/b'])(
    '%s is not found',
    async (name) => {
      const request = { account: 'test', location: 'default', name };
      await expect(reader.getJob(request)).rejects.toThrow(NotFoundError);
      await expect(reader.cancelJob(request)).rejects.toThrow(NotFoundError);
      expect(await reader.getFileContents(request, 'main')).toEqual({});
      await expect(reader.getJob({ ...request, account: 'missing' })).rejects.toThrow(NotFoundError);
    },
  );

  test('what each container of a pod wrote, init containers first', async () => {
    await using ns = await createNamespace();
    const annotations = toAnnotations({ 'logs.main': 'main text', 'logs.first': 'first text' });
    const spec = {
      initContainers: [{ name: 'first', image: 'registry.test/init:1' }],
      containers: [
        { name: 'main', image: 'registry.test/web:1' },
        { name: 'side', image: 'registry.invalid/side:1' },
      ],
    };
    const web = createManifest('v1', 'Pod', { name: 'web', annotations, more: { spec } });
    await createLive(ns.name, 'pods', web);
    const pod = { account: 'test', location: ns.name, name: 'pod web' };
    const read = () => instances.getConsoleOutput(pod);
    await expect.poll(read).toEqual([
      { name: 'first', output: expect.stringContaining('first text') },
      { name: 'main', output: expect.stringContaining('main text') },
      { name: 'side', output: expect.stringContaining('side') },
    ]);
    expect(await instances.getConsoleOutput({ ...pod, name: 'pod gone' })).toEqual([
      { name: 'Error', output: `There is no pod gone in ${ns.name}` },
    ]);
    await expect(instances.getConsoleOutput({ ...pod, name: 'web' })).rejects.toThrow(NotFoundError);
    await expect(instances.getConsoleOutput({ ...pod, account: 'missing' })).rejects.toThrow(NotFoundError);
  });
});

describe('a Job of a server that answers oddly', () => {
  const request = { account: 'test', location: 'web', name: 'job smoke' };

  test('has no pods while it selects none: not those of others', async () => {
    await using server = await startScriptedServer();
    await using provider = openProvider([{ name: 'test', kubeconfigContents: server.getKubeconfig() }]);
    const metadata = { name: 'smoke', namespace: 'web', creationTimestamp: '2030-01-01T00:00:00Z' };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'someone-else' } };
    server.script(
      answerJson(200, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: {} }),
      answerJson(200, { metadata: {}, items: [pod] }),
    );
    expect(await (await openJobs(provider)).getJob(request)).toMatchObject({ jobState: 'Running', pods: [] });
    expect(server.seen).toHaveLength(1);
  });

  test('is refused by an error that names it', async () => {
    await using server = await startScriptedServer();
    await using provider = openProvider([{ name: 'test', kubeconfigContents: server.getKubeconfig() }]);
    server.script(answerStatus(403, 'Forbidden'));
    const named = '(account: test, location: web, name: job smoke): .*Forbidden says the server';
    const toPattern = (verb: string) =>
      new RegExp(`^Failed to ${verb} job: ${named}`.replace(/[()]/g, '\\$&'));
    const jobs = await openJobs(provider);
    await expect(jobs.getJob(request)).rejects.toThrow(toPattern('read'));
    await expect(jobs.cancelJob(request)).rejects.toThrow(toPattern('cancel'));
  });
});
