import { afterAll, describe, expect, it } from 'vitest';
import { VisibleError } from '#core/errors.ts';
import { CredentialsError, credentialsWorkedMs } from '#tasks/late-credentials.ts';
import {
  acceptTask,
  getTaskView,
  readLines,
  runTaskOnce,
  type Work,
} from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const clusterWaitMs = 300_000;

/** A task of one operation of two steps, whose credentials are refused behind the first one until others come. */
async function acceptDeploy() {
  const task = await acceptTask(system, ['first']);
  await system.receiveTaskMessages();
  const done: string[] = [];
  let isRefused = true;
  const work: Work = async (own) => {
    for (const step of ['a', 'b']) {
      own.report(`step ${step}`);
      if (step === 'b' && isRefused) refuse(undefined);
      await own.step(step, async () => {
        done.push(step);
        return step;
      });
    }
    return {};
  };
  return {
    done,
    renew: () => {
      isRefused = false;
    },
    run: () => runTaskOnce(system, task, { works: { first: work }, clusterWaitMs }),
    async look() {
      const { status, history, resultObjects } = await getTaskView(system, task);
      const { attempts = -1 } = (await system.store.find(task.id)) ?? {};
      return { status, lines: readLines({ history }), resultObjects, attempts };
    },
  };
}

function refuse(workedAtMs: number | undefined): never {
  const cause = new VisibleError('Unauthorized');
  throw new CredentialsError('Deploying failed: Unauthorized', { cause, workedAtMs });
}

describe('credentials that end in the midst of a task', () => {
  it('are waited for without an attempt, and it goes on where it was', async () => {
    const deploy = await acceptDeploy();
    for (let look = 0; look < 3; look += 1) {
      await deploy.run();
      system.clock.advance(15_000);
    }
    expect(await deploy.look()).toMatchObject({ status: { completed: false }, attempts: 0 });

    deploy.renew();
    await deploy.run();

    expect(deploy.done).toEqual(['a', 'b']);
    const { status, lines } = await deploy.look();
    expect(status).toMatchObject({ completed: true, failed: false });
    expect(lines).toEqual([
      ...['accepted', 'Processing op: TestFirst', 'step a'],
      'Waiting for credentials of account account: Deploying failed: Unauthorized',
      ...['step b', 'Completed op: TestFirst', 'Orchestration completed.'],
    ]);
  });

  it('are waited for no longer than an absent cluster, and then it fails in the words of the cluster', async () => {
    const deploy = await acceptDeploy();
    await deploy.run();
    system.clock.advance(clusterWaitMs - 1_000);
    await deploy.run();
    expect((await deploy.look()).status.completed).toBe(false);
    system.clock.advance(1_000);
    await deploy.run();
    const { status, resultObjects } = await deploy.look();
    expect(status).toMatchObject({ completed: true, failed: true });
    expect(resultObjects).toMatchObject([{ message: 'Unauthorized' }]);
  });

  it('are waited for by whoever looks again, though he knows of no time when they worked', async () => {
    const task = await acceptTask(system, ['first']);
    const look = (workedAtMs?: number) =>
      runTaskOnce(system, task, { works: { first: async () => refuse(workedAtMs) }, clusterWaitMs });
    await look(system.clock.now());
    system.clock.advance(15_000);
    await look();
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: false });
    system.clock.advance(15_000);
    await runTaskOnce(system, task, { works: { first: async () => ({}) }, clusterWaitMs });
    expect(readLines(await getTaskView(system, task))).toEqual([
      ...['accepted', 'Processing op: TestFirst'],
      'Waiting for credentials of account account: Deploying failed: Unauthorized',
      ...['Completed op: TestFirst', 'Orchestration completed.'],
    ]);
  });

  it('are waited for by an operation that waited for what it did with the former ones', async () => {
    const task = await acceptTask(system, ['first']);
    let isRefused = false;
    const first: Work = async (own) => {
      if (isRefused) refuse(undefined);
      const deadlineMs = system.clock.now() + 600_000;
      const wait = { describe: () => 'the deletion', deadlineMs, inPlaceMs: 0, clock: system.clock };
      return own.waitUntil('deletion', async () => undefined, wait);
    };
    const look = () => runTaskOnce(system, task, { works: { first }, clusterWaitMs });
    await look();
    isRefused = true;
    system.clock.advance(15_000);
    await look();
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: false });
  });

  it.each([
    ['is waited for where they worked within the hour', credentialsWorkedMs - 1_000, false],
    ['fails at once where they last worked before', credentialsWorkedMs, true],
    ['fails at once where they never did', undefined, true],
  ])('a task that has done nothing yet %s', async (_what, agoMs, isFailed) => {
    const task = await acceptTask(system, ['first', 'second']);
    const first: Work = async () => refuse(agoMs === undefined ? undefined : system.clock.now() - agoMs);
    await runTaskOnce(system, task, { works: { first, second: first }, clusterWaitMs });
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: isFailed, failed: isFailed });
  });
});
