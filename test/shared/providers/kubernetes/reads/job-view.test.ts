import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { sortByUse, toJobView } from '#providers/kubernetes/reads/job-view.ts';

const complete = { type: 'Complete', status: 'True', reason: 'SuccessPolicy' };
const failed = { type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'too slow' };

function createJob(status: JsonObject | undefined, spec: JsonObject = {}): Manifest {
  const metadata = { name: 'smoke', namespace: 'web', creationTimestamp: '2030-01-02T03:04:05Z' };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec, ...(status && { status }) };
}

/** @param second of its start; undefined for one that has not started */
function createPod(name: string, second: number | undefined, status: JsonObject = {}): Manifest {
  const startTime = second === undefined ? {} : { startTime: `2030-01-02T03:04:0${second}Z` };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, status: { ...startTime, ...status } };
}

/** What a container of a pod came to. */
function endWith(name: string, exitCode: number, more: JsonObject = {}): JsonObject {
  return { name, state: { terminated: { exitCode, ...more } } };
}

function view(job: Manifest, pods: readonly Manifest[] = [], detailedPodStatus = true): JsonObject {
  return JSON.parse(JSON.stringify(toJobView({ account: 'prod', job, pods, detailedPodStatus })));
}

function listNames(pods: readonly Manifest[]): unknown[] {
  return pods.map((pod) => (pod.metadata as JsonObject)['name']);
}

describe('the state of a Job', () => {
  test.each<{ what: string; status?: JsonObject; spec?: JsonObject; state: string }>([
    { what: 'nobody has looked at', state: 'Running' },
    { what: 'has a pod that runs', status: { active: 1 }, state: 'Running' },
    { what: 'has succeeded once', status: { succeeded: 1 }, state: 'Succeeded' },
    { what: 'must yet succeed again', status: { succeeded: 2 }, spec: { completions: 3 }, state: 'Running' },
    { what: 'has succeeded enough', status: { succeeded: 3 }, spec: { completions: 3 }, state: 'Succeeded' },
    {
      what: 'is complete by its success policy',
      status: { succeeded: 1, conditions: [complete] },
      spec: { completions: 3 },
      state: 'Succeeded',
    },
    {
      what: 'is not complete, as Kubernetes says',
      status: { conditions: [{ ...complete, status: 'False' }] },
      state: 'Running',
    },
    { what: 'has failed', status: { conditions: [failed] }, state: 'Failed' },
    {
      what: 'has not failed, as Kubernetes says',
      status: { conditions: [{ ...failed, status: 'False' }] },
      state: 'Running',
    },
  ])('that $what is $state', ({ status, spec, state }) => {
    expect(view(createJob(status, spec))).toMatchObject({ jobState: state });
  });

  test('comes with the reason of a failure, and with none else', () => {
    const words = { message: 'too slow', reason: 'DeadlineExceeded' };
    expect(view(createJob({ conditions: [failed] }))).toEqual({
      ...{ name: 'smoke', account: 'prod', location: 'web', provider: 'kubernetes' },
      createdTime: Date.UTC(2030, 0, 2, 3, 4, 5),
      jobState: 'Failed',
      completionDetails: { exitCode: '', signal: '', ...words },
      ...words,
      pods: [],
    });
    const succeeded = view(createJob({ conditions: [complete] }));
    expect(succeeded).toMatchObject({
      completionDetails: { exitCode: '', signal: '', message: '', reason: '' },
    });
    expect(succeeded).not.toHaveProperty('reason');
  });
});

describe('the pods of a Job', () => {
  test('stand in the order of their starts, those last that have not started', () => {
    const pods = [createPod('waiting', undefined), createPod('late', 7), createPod('early', 1)];
    const shown = view(createJob({}), pods);
    expect((shown['pods'] as JsonObject[]).map(({ name }) => name)).toEqual(['early', 'late', 'waiting']);
    expect(shown['mostRecentPodName']).toBe('waiting');
    expect(view(createJob({}), pods.slice(1))['mostRecentPodName']).toBe('late');
    expect(view(createJob({}), pods, false)).toMatchObject({ pods: [], mostRecentPodName: 'waiting' });
  });

  test('are shown without nulls, their numbers as Kubernetes has them', () => {
    const pod = createPod('web', 1, { phase: 'Running', message: null, restarts: 2 });
    const shown = toJobView({ account: 'prod', job: createJob({}), pods: [pod], detailedPodStatus: true });
    expect(JSON.stringify(shown)).toContain(
      '"pods":[{"name":"web","status":{"startTime":"2030-01-02T03:04:01Z","phase":"Running","restarts":2}}]',
    );
  });

  test('give their log first where they succeeded, else where they are newest', () => {
    const pods = [
      createPod('first', 1, { phase: 'Failed' }),
      createPod('worked', 2, { phase: 'Succeeded' }),
      createPod('worked-again', 3, { phase: 'Succeeded' }),
      createPod('last', 4, { phase: 'Failed' }),
    ];
    const order = ['worked-again', 'worked', 'last', 'first'];
    expect(listNames(sortByUse(pods))).toEqual(order);
    expect(listNames(sortByUse(pods.toReversed()))).toEqual(order);
  });
});

describe('why a pod failed', () => {
  const failedJob = createJob({ conditions: [failed] });
  const explain = (...pods: Manifest[]): unknown => view(failedJob, pods)['failureDetails'];

  test('is told by the first container that failed, init containers before others', () => {
    const fine = createPod('fine', 1, { containerStatuses: [endWith('main', 0)] });
    const broken = createPod('broken', 2, {
      initContainerStatuses: [endWith('prepare', 0), endWith('fetch', 2, { reason: 'Error' })],
      containerStatuses: [endWith('main', 137, { reason: 'OOMKilled', message: 'no memory' })],
    });
    const later = createPod('later', 3, { containerStatuses: [endWith('main', 1)] });
    expect(explain(later, broken, fine)).toBe(
      "Pod: 'broken' had errors.\n Container: 'fetch' exited with code: 2.\n Status: Error.",
    );
    expect(explain(later, fine)).toBe("Pod: 'later' had errors.\n Container: 'main' exited with code: 1.");
    expect(explain(fine)).toBeUndefined();
  });

  test('is told by a container that waits where none has failed', () => {
    const waiting = { name: 'main', state: { waiting: { reason: 'ImagePullBackOff', message: 'no image' } } };
    const stuck = createPod('stuck', 1, { containerStatuses: [waiting] });
    expect(explain(stuck)).toBe(
      "Pod: 'stuck' had errors.\n Container: 'main' exited with code: none, it is waiting.\n Status: ImagePullBackOff.\n Logs: no image",
    );
    const broken = createPod('broken', 2, { containerStatuses: [endWith('main', 1)] });
    expect(explain(stuck, broken)).toContain("Pod: 'broken'");
  });

  test('is not told while the Job may still succeed', () => {
    const broken = createPod('broken', 1, { containerStatuses: [endWith('main', 1)] });
    expect(view(createJob({ active: 1 }), [broken])).not.toHaveProperty('failureDetails');
  });
});
