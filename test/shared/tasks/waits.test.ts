import { afterAll, describe, expect, it } from 'vitest';
import { failTask } from '#tasks/fail-task.ts';
import type { TaskMessages } from '#tasks/operation-queue.ts';
import { processTaskMessage, type TaskSystem } from '#tasks/process-message.ts';
import { sweepTasks } from '#tasks/sweep-tasks.ts';
import { leaseDurationMs, type Task } from '#tasks/task.ts';
import {
  acceptTask,
  getTaskView,
  messageOf,
  readLines,
  toOperation,
  type Work,
  waitTimes,
} from '#test/support/system/task-runs.ts';
import { createMortalSystem, startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const timeoutMs = 10 * 60_000;
/** Whether the tasks' cluster can be reached. */
let isReachable = true;
const { clock } = system;

/** What an operation waits for, and what was done on its way. */
class Awaited {
  isThere = false;
  looks = 0;
  readonly done: string[] = [];

  /** Decides, waits inside a step, and does one more. */
  readonly work: Work = async (run) => {
    run.report('begin');
    const { decidedAtMs } = await run.decide('target', async () => {
      this.done.push('decided');
      return { decidedAtMs: clock.now() };
    });
    run.report('asked for');
    await run.step('awaited', async () => {
      await run.waitUntil('it', async ({ isFirst }) => this.#look(isFirst), {
        describe: () => 'it',
        deadlineMs: decidedAtMs + timeoutMs,
        clock,
      });
      return null;
    });
    run.report('end');
    return { decidedAtMs };
  };

  #look(isFirst: boolean): true | undefined {
    this.looks += 1;
    if (isFirst && !this.done.includes('asked')) this.done.push('asked');
    return this.isThere || undefined;
  }
}

/** The system with a queue that tells what is sent. */
function watchQueue(): { readonly sent: SentMessage[]; readonly on: TaskSystem } {
  const sent: SentMessage[] = [];
  const queue = { ...system.queue, send: async (message: SentMessage) => void sent.push(message) };
  return { sent, on: { ...system, queue } };
}

type SentMessage = Parameters<TaskMessages['queue']['send']>[0];

function run(on: TaskSystem, task: Task, work: Work): Promise<void> {
  return processTaskMessage(on, messageOf(task), {
    findOperation: async (_provider, name) => toOperation(name, work),
    clusters: { isReachable: async () => isReachable, waitMs: timeoutMs },
    stop: new AbortController().signal,
  });
}

/** Runs a task whose wait is not over, to where it is put down. */
async function putDown(on: TaskSystem, task: Task, awaited: Awaited): Promise<void> {
  const running = run(on, task, awaited.work);
  const looks = awaited.looks;
  while (awaited.looks === looks) await clock.sleep(1);
  clock.advance(2_000);
  await running;
}

const lines = [
  ...['accepted', 'Processing op: TestFirst', 'begin', 'asked for', 'Waiting for it'],
  ...['end', 'Completed op: TestFirst', 'Orchestration completed.'],
];

async function listLines(task: Task): Promise<string[]> {
  return readLines(await getTaskView(system, task));
}

describe('an operation that waits for long', () => {
  it('gives its worker back, is looked at after 1, 2, 4, 8 and then each 15 seconds, and spends no attempt', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    const { sent, on } = watchQueue();
    await putDown(on, task, awaited);
    const looks = awaited.looks;
    for (let look = 1; look <= 12; look += 1) {
      clock.advance((sent.at(-1)?.delaySeconds ?? 0) * 1_000);
      await run(on, task, awaited.work);
      expect(awaited.looks).toBe(looks + look);
    }

    expect(sent.map(({ delaySeconds }) => delaySeconds)).toEqual([1, 2, 4, 8, ...Array(9).fill(15)]);
    expect(await system.store.find(task.id)).toMatchObject({ state: 'STARTED', attempts: 0 });
    const { status } = (await getTaskView(system, task)).status;
    const [since = 0, until = 0] = waitTimes.exec(status)?.slice(1).map(Date.parse) ?? [];
    expect(status).toMatch(/^Waiting for it \(since /);
    expect(clock.now() - since).toBeGreaterThan(2 * 60_000);
    expect(until - since).toBeGreaterThan(timeoutMs - 10_000);
    awaited.isThere = true;
    clock.advance(15_000);
    await run(on, task, awaited.work);
    expect(await listLines(task)).toEqual(lines);
    expect(awaited.done).toEqual(['decided', 'asked']);
    // The decision, the step, the operation, the end: a wait completes nothing.
    expect(await system.listEvents(task.id)).toEqual([
      ...['TaskAccepted', ...Array(4).fill('TaskStepCompleted'), 'TaskCompleted'],
    ]);
  });

  it('waits for its cluster too, if that goes away meanwhile, and does not begin twice', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    await putDown(system, task, awaited);
    awaited.isThere = true;
    clock.advance(2_000);
    isReachable = false;
    await run(system, task, awaited.work);
    isReachable = true;
    clock.advance(2_000);
    await run(system, task, awaited.work);

    const waits = ['Waiting for it', 'Waiting for the cluster of account account'];
    expect(await listLines(task)).toEqual(lines.flatMap((line) => (line === waits[0] ? waits : [line])));
  });

  it('fails at its deadline, which counts from the decision', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    const { sent, on } = watchQueue();
    await putDown(on, task, awaited);
    clock.advance(timeoutMs - 5_000);
    await run(on, task, awaited.work);
    expect(sent.at(-1)?.delaySeconds).toBeLessThanOrEqual(3);
    clock.advance(3_000);
    await run(on, task, awaited.work);

    const view = await getTaskView(system, task);
    expect(view.status).toMatchObject({ completed: true, failed: true });
    expect(view.resultObjects).toMatchObject([{ message: 'Waiting for it took too long' }]);
  });

  it('is put down for the others that it waits for, too, though one has failed', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    const { on } = watchQueue();
    const work: Work = async (own) => {
      await Promise.allSettled([awaited.work(own)]);
      throw new Error('another one failed');
    };
    const running = run(on, task, work);
    while (awaited.looks === 0) await clock.sleep(1);
    clock.advance(2_000);
    await running;
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    awaited.isThere = true;
    clock.advance(1_000);
    await run(on, task, work);
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: true });
  });

  it('can be ended from outside like any other task', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    await putDown(watchQueue().on, task, awaited);
    await failTask(system, task, { retryable: false });
    clock.advance(1_000);
    const { looks } = awaited;
    await run(system, task, awaited.work);
    expect(awaited.looks).toBe(looks);
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: true });
  });
});

describe('a wait that is over within two seconds', () => {
  it('stays in the worker, and costs no write', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    const { sent, on } = watchQueue();
    const commits: string[] = [];
    const store = Object.assign(Object.create(system.store), {
      takeLease: system.store.takeLease.bind(system.store),
      renewLease: system.store.renewLease.bind(system.store),
      removeOpen: system.store.removeOpen.bind(system.store),
      commit: (...[lease, commit]: Parameters<TaskSystem['store']['commit']>) => {
        commits.push(commit.next);
        return system.store.commit(lease, commit);
      },
    });
    const running = run({ ...on, store }, task, awaited.work);
    while (awaited.looks === 0) await clock.sleep(1);
    awaited.isThere = true;
    await running;

    expect(commits).toEqual(['hold', 'COMPLETED']);
    expect(sent).toEqual([]);
    expect(await listLines(task)).toEqual(lines.filter((line) => line !== 'Waiting for it'));
  });
});

describe('a worker whose store takes no waits, such as that of an agent of an older Busdriver', () => {
  it('waits in place', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    const { sent, on } = watchQueue();
    const store = Object.assign(Object.create(system.store), {
      renewLease: system.store.renewLease.bind(system.store),
      removeOpen: system.store.removeOpen.bind(system.store),
      commit: system.store.commit.bind(system.store),
      takeLease: async (...options: Parameters<TaskSystem['store']['takeLease']>) => {
        const leased = await system.store.takeLease(...options);
        return leased && { ...leased, waitsInPlace: true };
      },
    });
    const running = run({ ...on, store }, task, awaited.work);
    for (let turn = 1; turn <= 5; turn += 1) {
      const { looks } = awaited;
      while (awaited.looks === looks) await clock.sleep(1);
      clock.advance(2_000);
    }
    awaited.isThere = true;
    await running;

    expect(sent).toEqual([]);
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
  });
});

describe('the message for a task that was put down', () => {
  it('does nothing when it comes too early, or twice', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    const { sent, on } = watchQueue();
    await putDown(on, task, awaited);
    for (const seconds of [1, 2, 4]) {
      clock.advance(seconds * 1_000);
      await run(on, task, awaited.work);
    }
    const { looks } = awaited;
    clock.advance(5_000);
    await run(on, task, awaited.work);
    expect(awaited.looks).toBe(looks);
    clock.advance(3_000);
    await Promise.all([run(on, task, awaited.work), run(on, task, awaited.work)]);
    expect(awaited.looks).toBe(looks + 1);
    expect(sent).toHaveLength(5);
  });

  it('is sent again by the sweeper when it was lost, for when the task is due', async () => {
    const task = await acceptTask(system, ['first']);
    const awaited = new Awaited();
    await putDown(watchQueue().on, task, awaited);
    for (const seconds of [1, 2, 4]) {
      clock.advance(seconds * 1_000);
      await run(watchQueue().on, task, awaited.work);
    }
    const { sent, on } = watchQueue();
    await sweepTasks(on);

    const own = sent.filter(({ taskId }) => taskId === task.id);
    expect(own).toEqual([{ taskId: task.id, account: 'account', delaySeconds: expect.any(Number) }]);
    awaited.isThere = true;
    clock.advance((own[0]?.delaySeconds ?? 0) * 1_000);
    await run(on, task, awaited.work);
    expect(await listLines(task)).toEqual(lines);
  });
});

describe('a worker that dies as it puts a task down', () => {
  /** Calls of the store, the bus and the queue: the lease, the decision, its events, what is put down, its message. */
  const points = 5;

  for (let point = 1; point <= points; point += 1) {
    for (const when of ['before', 'after'] as const) {
      it(`${when} call ${point} of ${points} leaves a task that is done once, with each line once`, async () => {
        const task = await acceptTask(system, ['first']);
        const awaited = new Awaited();
        await dieAt(task, awaited, { point, when });
        awaited.isThere = true;
        clock.advance(leaseDurationMs + 1_000);
        await system.receiveTaskMessages();
        await sweepTasks(system);
        expect(await system.receiveTaskMessages()).toContain(task.id);
        await run(system, task, awaited.work);

        expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
        const isTold = point > 4 || (point === 4 && when === 'after');
        expect(await listLines(task)).toEqual(lines.filter((line) => isTold || line !== 'Waiting for it'));
        expect(awaited.done.filter((each) => each === 'asked')).toHaveLength(1);
      });
    }
  }

  /** Puts a task down in a process that dies at its n-th call, before it is made or before it is answered. */
  async function dieAt(
    task: Task,
    awaited: Awaited,
    { point, when }: { readonly point: number; readonly when: 'before' | 'after' },
  ): Promise<void> {
    const { promise: death, resolve: die } = Promise.withResolvers<void>();
    let calls = 0;
    const mortal = createMortalSystem(
      countCalls(async (call) => {
        calls += 1;
        if (calls < point) return call();
        if (calls === point && when === 'after') await call();
        mortal.kill();
        die();
        return new Promise(() => undefined);
      }),
    );
    const running = run(mortal.system, task, awaited.work);
    const turning = (async () => {
      while (awaited.looks === 0 && calls < point) await clock.sleep(1);
      clock.advance(2_000);
    })();
    await Promise.race([death, running]);
    await turning;
    expect(calls).toBeGreaterThanOrEqual(point);
  }
});

/** The system of which each call passes here, but for those by which it stays alive. */
function countCalls(pass: (call: () => Promise<unknown>) => Promise<unknown>): TaskSystem {
  const watch = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const call = (...parameters: unknown[]): Promise<unknown> => member.apply(target, parameters);
        if (name === 'renewLease' || name === 'extendVisibility') return call;
        return (...parameters: unknown[]) => pass(() => call(...parameters));
      },
    });
  return { ...system, store: watch(system.store), queue: watch(system.queue), bus: watch(system.bus) };
}
