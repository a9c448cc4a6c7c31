import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import { getPath } from '../../../../../shared/core/json.ts';
import { startApiProxy } from '../../../../support/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../../../support/cluster.ts';
import { findLive, getPathOf, listNames } from '../live.ts';
import { createConfigMap, createJob, createSecret, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import {
  CrashError,
  emptyRecord,
  listHistory,
  type OperationResult,
  runOperation,
  type TaskRecord,
} from './task-run.ts';

/** Trials that run side by side: most of their time they wait. */
const concurrency = 6;

describeWithCluster('a deploy whose worker dies', (cluster) => {
  test('in place of any commit: another worker ends it as if nothing had happened', async () => {
    await using provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
    const operation = getOperation(provider, 'deployManifest');
    const run = async (crashAtCommit: number): Promise<number> => {
      await using trial = await arrange();
      await crash(runOperation(operation, trial.description, { ...trial, crashAtCommit }));
      await verify(trial, await runOperation(operation, trial.description, trial));
      return trial.record.commits;
    };
    const commits = await run(1);
    expect(commits).toBeGreaterThan(8);
    await runAll(2, commits, run);
  });

  test('before any call is sent: another worker ends it as if nothing had happened', async () => {
    /** No call is the deadly one for 0. */
    const run = async (deadlyCall: number): Promise<number> => {
      const worker = new AbortController();
      let calls = 0;
      const refuse = (): number | undefined => {
        calls += 1;
        if (calls !== deadlyCall) return undefined;
        worker.abort(new CrashError());
        return 503;
      };
      await using proxy = await startApiProxy(cluster, { refuse });
      await using provider = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
      const operation = getOperation(provider, 'deployManifest');
      await using trial = await arrange();
      if (deadlyCall > 0) {
        await crash(runOperation(operation, trial.description, { ...trial, signal: worker.signal }));
      }
      await verify(trial, await runOperation(operation, trial.description, trial));
      return calls;
    };
    const calls = await run(0);
    expect(calls).toBeGreaterThan(15);
    await runAll(1, calls, run);
  });
});

/** Runs the trials from `first` to `last`, some at a time. */
async function runAll(first: number, last: number, run: (trial: number) => Promise<unknown>): Promise<void> {
  let next = first;
  const work = async (): Promise<void> => {
    while (next <= last) {
      const trial = next;
      next += 1;
      await run(trial);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** A deploy in a namespace of its own, with one of everything that could go wrong when done twice. */
interface Trial extends AsyncDisposable {
  readonly namespace: string;
  readonly description: JsonObject;
  readonly record: TaskRecord;
  /** Identity of the object that is to be recreated. */
  readonly oldUid: unknown;
}

async function arrange(): Promise<Trial> {
  const ns = await createNamespace('resume');
  const namespace = ns.name;
  const annotate = (strategy: string) => ({
    namespace,
    annotations: {
      [`strategy.spinnaker.io/${strategy}`]: 'true',
      'strategy.spinnaker.io/versioned': 'false',
    },
  });
  const manifests = [
    createConfigMap('flags', { a: '1' }, { namespace }),
    createSecret('keys', 'planted', { namespace }),
    createConfigMap('anew', { a: '1' }, annotate('recreate')),
    createConfigMap('whole', { a: '1' }, annotate('replace')),
    createConfigMap('merged', { a: '1' }, annotate('server-side-apply')),
    createWorkload('ReplicaSet', 'web', {
      namespace,
      more: { volumes: [{ name: 'f', configMap: { name: 'flags' } }] },
    }),
    createJob({ generateName: 'smoke-', namespace }),
    createWorkload('Deployment', 'plain', { namespace }),
  ];
  const old = await requestApi(
    'POST',
    getPathOf(namespace, 'configmaps'),
    createConfigMap('anew', { old: 'x' }),
  );
  return {
    namespace,
    description: { account: 'test', moniker: { app: 'shop' }, manifests },
    record: emptyRecord(),
    oldUid: getPath(old, 'metadata', 'uid'),
    [Symbol.asyncDispose]: () => ns[Symbol.asyncDispose](),
  };
}

/** Waits for the worker's death. */
async function crash(run: Promise<unknown>): Promise<void> {
  await expect(run).rejects.toBeInstanceOf(CrashError);
}

/** Everything is there once, and the history tells it once. */
async function verify({ namespace, oldUid, record }: Trial, result: OperationResult): Promise<void> {
  expect(await listNames(namespace, 'configmaps')).toEqual(['anew', 'flags-v000', 'merged', 'whole']);
  expect(await listNames(namespace, 'secrets')).toEqual(['keys-v000']);
  expect((await listNames(namespace, 'replicasets')).filter((name) => name.startsWith('web'))).toEqual([
    'web-v000',
  ]);
  const jobs = await listNames(namespace, 'jobs');
  expect(jobs).toHaveLength(1);
  const anew = await findLive(namespace, 'configmaps/anew');
  expect(anew?.data).toEqual({ a: '1' });
  expect(getPath(anew, 'metadata', 'uid')).not.toBe(oldUid);
  expect(await findLive(namespace, 'replicasets/web-v000')).toMatchObject({
    spec: { template: { spec: { volumes: [{ configMap: { name: 'flags-v000' } }] } } },
  });
  const names = [
    'configMap flags-v000',
    'secret keys-v000',
    'configMap anew',
    'configMap whole',
    'configMap merged',
    'replicaSet web-v000',
    `job ${jobs[0]}`,
    'deployment plain',
  ];
  expect(result.manifestNamesByNamespace).toEqual({ [namespace]: names });
  expect(listHistory(record).map(maskOutcome)).toEqual(listExpectedHistory(names));
}

/** What a repeat finds done already it reports as unchanged. */
function maskOutcome(line: string): string {
  return line.replace(/: (created|configured|unchanged|replaced)$/, ': done');
}

function listExpectedHistory(names: readonly string[]): string[] {
  return [
    'Beginning the deployment to account test',
    'Order of deployment: configMap flags, secret keys, configMap anew, configMap whole, configMap merged, replicaSet web, job smoke-, deployment plain',
    ...names.flatMap((name) => [
      `Bound artifacts in ${name}: ${name === 'replicaSet web-v000' ? 'kubernetes/configMap flags-v000' : 'none'}`,
      `Annotated ${name} with its artifact and moniker`,
    ]),
    'Checking that each required artifact was bound',
    ...names.flatMap((name) => [
      `Submitting ${name}`,
      ...(name === 'configMap anew' ? ['Deleting configMap anew, to be made anew'] : []),
      `${name}: done`,
    ]),
    'Deployed 8 of 8 manifests',
  ];
}
