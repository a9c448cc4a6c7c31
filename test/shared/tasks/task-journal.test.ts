import { afterAll, expect, test } from 'vitest';
import { VisibleError } from '#core/errors.ts';
import { withDoubles } from '#core/json.ts';
import { CheckpointError } from '#tasks/run-task.ts';
import { acceptTask, getTaskView, runTaskOnce, type Work } from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

test('an operation adds result objects, and sees those of the ones before it, whichever worker runs it', async () => {
  const task = await acceptTask(system, ['clone', 'fail', 'attach']);
  const stop = new AbortController();
  const seen: unknown[] = [];
  const works: { readonly [name: string]: Work } = {
    async clone(run) {
      expect(run.listEarlierResults()).toEqual([]);
      run.addResult({ ancestor: withDoubles({ size: 2 }) });
      await run.step('create', async () => null);
      run.addResult({ created: 'web-v001' });
      return { serverGroup: 'web-v001' };
    },
    async fail(run) {
      run.addResult({ tried: true });
      throw new VisibleError('the cloud said no');
    },
    async attach(run) {
      seen.push(run.listEarlierResults());
      run.addResult({ attached: seen.length });
      await run.step('attach', async () => null);
      if (seen.length === 1) stop.abort(new CheckpointError('time is over'));
      run.signal.throwIfAborted();
      return { done: true };
    },
  };

  await runTaskOnce(system, task, { works, stop: stop.signal });
  await runTaskOnce(system, task, { works });

  const ofClone = [{ ancestor: { size: 2 } }, { created: 'web-v001' }, { serverGroup: 'web-v001' }];
  expect(seen).toEqual([ofClone, ofClone]);
  expect((await getTaskView(system, task)).resultObjects).toEqual([
    ...ofClone,
    ...[{ tried: true }, expect.objectContaining({ type: 'EXCEPTION', message: 'the cloud said no' })],
    ...[{ attached: 1 }, { done: true }],
  ]);
});
