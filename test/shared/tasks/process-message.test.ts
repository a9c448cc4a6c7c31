import { afterAll, describe, expect, it } from 'vitest';
import { InvalidInputError, VisibleError } from '#core/errors.ts';
import { processTaskMessage, type TaskSystem } from '#tasks/process-message.ts';
import { CheckpointError } from '#tasks/run-task.ts';
import { leaseDurationMs, type Task } from '#tasks/task.ts';
import { toTaskView } from '#tasks/task-view.ts';
import {
  acceptTask,
  getTaskView,
  messageOf,
  runTaskOnce,
  type TaskView,
  toOperation,
  type Work,
} from '#test/support/system/task-runs.ts';
import { createMortalSystem, startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const accept = (names: readonly string[]): Promise<Task> => acceptTask(system, names);
const getView = (task: Task): Promise<TaskView> => getTaskView(system, task);
const run = (task: Task, works: { [name: string]: Work }, stop?: AbortSignal): Promise<void> =>
  runTaskOnce(system, task, { works, ...(stop && { stop }) });

describe('processTaskMessage()', () => {
  it('runs the operations in order and shows their lines and results', async () => {
    const task = await accept(['first', 'second']);

    await run(task, {
      first: async (own) => {
        own.report('doing the first');
        return { one: 1 };
      },
      second: async (own) => {
        own.output({ manifest: 'm', phase: 'WORK', stdOut: 'out', stdError: '' });
        return { two: 2 };
      },
    });

    const view = await getView(task);
    expect(view.status).toMatchObject({ completed: true, failed: false, status: 'Orchestration completed.' });
    expect(view.history.map((line) => `${line.phase} ${line.status}`)).toEqual([
      ...['ORCHESTRATION accepted', 'ORCHESTRATION Processing op: TestFirst', 'WORK doing the first'],
      ...['ORCHESTRATION Completed op: TestFirst', 'ORCHESTRATION Processing op: TestSecond'],
      ...['ORCHESTRATION Completed op: TestSecond', 'ORCHESTRATION Orchestration completed.'],
    ]);
    expect(view.resultObjects).toEqual([{ one: 1 }, { two: 2 }]);
    expect(view.outputs).toEqual([{ manifest: 'm', phase: 'WORK', stdOut: 'out', stdError: '' }]);
  });

  it('goes on after a failing operation, and fails the task with what the user needs', async () => {
    const task = await accept(['first', 'second']);

    await run(task, {
      first: async () => {
        throw new VisibleError('the cluster said no', { cause: new Error('root') });
      },
      second: async () => ({ done: true }),
    });

    const view = await getView(task);
    expect(view.status).toMatchObject({ completed: true, failed: true, retryable: false });
    expect(view.resultObjects).toEqual([
      expect.objectContaining({
        type: 'EXCEPTION',
        operation: 'TestFirst',
        message: 'the cluster said no',
        cause: 'root',
      }),
      { done: true },
    ]);
  });

  it('keeps the message of a defect, which may quote data, out of the task', async () => {
    const task = await accept(['first']);
    await run(task, { first: async () => JSON.parse('{"password": planted-secret') as object });
    expect(JSON.stringify(await getView(task))).not.toContain('planted');
    expect((await getView(task)).status.failed).toBe(true);
    expect(system.logged).toContain('operation failed by a defect');
  });

  it('is done by another worker when a part of the program is gone', async () => {
    const task = await accept(['first']);
    const gone = new URL('gone.ts', import.meta.url).href;

    await expect(run(task, { first: async () => import(gone) })).rejects.toThrow('gone.ts');
    expect((await getView(task)).status.completed).toBe(false);
    system.clock.advance(leaseDurationMs + 1);
    await run(task, { first: async () => ({ done: true }) });

    expect((await getView(task)).status).toMatchObject({ completed: true, failed: false });
  });

  it('keeps numbers as doubles in results', async () => {
    const task = await accept(['first']);
    const { withDoubles } = await import('#core/json.ts');
    await run(task, { first: async () => ({ manifest: withDoubles({ replicas: 3, ratio: 0.5 }) }) });
    const found = await system.store.find(task.id);
    expect(found && toTaskView(found, system.clock.now())).toContain(
      '"resultObjects":[{"manifest":{"replicas":3.0,"ratio":0.5}}]',
    );
  });

  it('executes once when one message is delivered three times at once', async () => {
    const task = await accept(['first']);
    let executions = 0;
    const works = {
      first: async () => {
        executions += 1;
        await system.clock.sleep(20);
        return { executions };
      },
    };

    await Promise.all([run(task, works), run(task, works), run(task, works)]);
    await run(task, works);

    expect(executions).toBe(1);
    expect((await getView(task)).resultObjects).toEqual([{ executions: 1 }]);
  });

  it('tells the bus, takes the task off the open list and deletes its payload', async () => {
    const task = await accept(['first']);
    await run(task, { first: async (own) => own.step('a', async () => 1).then(() => undefined) });
    expect(await system.listEvents(task.id)).toEqual([
      'TaskAccepted',
      'TaskStepCompleted',
      'TaskStepCompleted',
      'TaskStepCompleted',
      'TaskCompleted',
    ]);
    expect((await system.store.listOpen(10_000)).map((row) => row.taskId)).not.toContain(task.id);
    expect(await system.table.get({ pk: `TASK#${task.id}`, sk: 'HEADER' })).not.toHaveProperty('payload');
  });

  it('fails an operation that no provider has any more, or whose description went bad', async () => {
    const gone = await accept(['nowhere']);
    await run(gone, {});
    expect((await getView(gone)).status.failed).toBe(true);

    const bad = await accept(['first']);
    const refuse = (): never => {
      throw new InvalidInputError('account.notFound');
    };
    await processTaskMessage(system, messageOf(bad), {
      findOperation: async () => ({ name: 'first', prepare: refuse }),
      stop: new AbortController().signal,
    });
    expect((await getView(bad)).resultObjects[0]).toMatchObject({ message: 'account.notFound' });
  });
});

describe('a worker that dies', () => {
  const steps = ['a', 'b', 'c', 'd'];

  /** An operation of four steps with a decision in front; `visit` is called at each point at which it can die. */
  const work =
    (effects: string[], visit: () => Promise<void>): Work =>
    async (own) => {
      own.report('begin');
      await visit();
      const name = await own.decide('name', async () => {
        effects.push('name');
        return `v${effects.length}`;
      });
      // Acting right after the decision, outside a step, as a decision allows.
      effects.push(`used:${name}`);
      await visit();
      for (const step of steps) {
        own.report(`step ${step}`);
        await own.step(step, async () => {
          await visit();
          effects.push(`${step}:${name}`);
          await visit();
          return step;
        });
      }
      own.report('end');
      await visit();
      return { name };
    };
  const points = 3 + 2 * steps.length;

  for (let diesAt = 1; diesAt <= points; diesAt += 1) {
    it(`at point ${diesAt} of ${points} leaves a task that another one finishes, each line once`, async () => {
      const task = await accept(['first']);
      const effects: string[] = [];
      await dieAt(diesAt, task, (visit) => work(effects, visit));

      system.clock.advance(leaseDurationMs + 1000);
      await run(task, { first: work(effects, async () => undefined) });

      const view = await getView(task);
      const [{ name } = {}] = view.resultObjects;
      expect(view.status).toMatchObject({ completed: true, failed: false });
      expect(view.history.map(({ status }) => status)).toEqual([
        'accepted',
        'Processing op: TestFirst',
        'begin',
        ...steps.map((step) => `step ${step}`),
        'end',
        'Completed op: TestFirst',
        'Orchestration completed.',
      ]);
      const done = effects.filter((effect) => !/^(name|used)/.test(effect));
      expect(new Set(effects.filter((effect) => effect.startsWith('used')))).toEqual(
        new Set([`used:${name}`]),
      );
      expect(new Set(done)).toEqual(new Set(steps.map((step) => `${step}:${name}`)));
      expect(done.length).toBeLessThanOrEqual(steps.length + 1);
    });
  }

  /** Runs the task in a process that dies at the n-th point. */
  async function dieAt(
    point: number,
    task: Task,
    makeWork: (visit: () => Promise<void>) => Work,
  ): Promise<void> {
    const mortal = createMortalSystem(system);
    let visits = 0;
    await new Promise<void>((died, survived) => {
      const visit = async (): Promise<void> => {
        visits += 1;
        if (visits < point) return;
        mortal.kill();
        died();
        await new Promise(() => undefined);
      };
      const options = {
        findOperation: async (_provider: string, name: string) => toOperation(name, makeWork(visit)),
        stop: new AbortController().signal,
      };
      processTaskMessage(mortal.system, messageOf(task), options).then(
        () => survived(new Error('the process reached its end')),
        survived,
      );
    });
  }

  it('cannot write to the task any more', async () => {
    const task = await accept(['first']);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = run(task, {
      first: async (own) => {
        await held;
        own.report('too late');
        return { from: 'slow' };
      },
    });
    await until(async () => (await system.store.find(task.id))?.leaseUntilMs !== 0);

    system.clock.advance(leaseDurationMs + 1000);
    await run(task, { first: async () => ({ from: 'second' }) });
    release();
    await slow;

    const view = await getView(task);
    expect(view.resultObjects).toEqual([{ from: 'second' }]);
    expect(view.history.map(({ status }) => status)).not.toContain('too late');
  });
});

describe('a store that is away for a moment', () => {
  it('fails no task: another worker goes on, even when the operation hides the error', async () => {
    const task = await accept(['first']);
    let broken = true;
    const flaky: TaskSystem = {
      ...system,
      store: Object.assign(Object.create(system.store), {
        takeLease: system.store.takeLease.bind(system.store),
        renewLease: system.store.renewLease.bind(system.store),
        commit: async () => {
          throw new Error('the store timed out');
        },
      }),
    };
    const work: Work = async (own) => {
      try {
        await own.decide('name', async () => 'v0');
      } catch {
        if (!broken) throw new Error('only the first worker meets the error');
      }
      return { done: true };
    };

    await expect(
      processTaskMessage(flaky, messageOf(task), {
        findOperation: async (_provider, name) => toOperation(name, work),
        stop: new AbortController().signal,
      }),
    ).rejects.toThrow('the store timed out');
    expect((await getView(task)).status.completed).toBe(false);

    broken = false;
    system.clock.advance(leaseDurationMs + 1000);
    await run(task, { first: work });
    expect((await getView(task)).status).toMatchObject({ completed: true, failed: false });
  });
});

describe('a worker whose time ends', () => {
  it('checkpoints, messages, and another one goes on from there', async () => {
    const task = await accept(['first']);
    await system.receiveTaskMessages();
    const stop = new AbortController();
    const done: string[] = [];
    const work: Work = async (own) => {
      for (const step of ['a', 'b', 'c']) {
        await own.step(step, async () => {
          done.push(step);
          if (step === 'b' && !stop.signal.aborted) stop.abort(new CheckpointError('time is over'));
          own.signal.throwIfAborted();
          return step;
        });
      }
      return {};
    };

    await run(task, { first: work }, stop.signal);
    expect((await getView(task)).status.completed).toBe(false);
    expect(await system.receiveTaskMessages()).toEqual([task.id]);
    await run(task, { first: work });

    expect(done).toEqual(['a', 'b', 'b', 'c']);
    expect((await getView(task)).status).toMatchObject({ completed: true, failed: false });
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await system.clock.sleep(5);
}
