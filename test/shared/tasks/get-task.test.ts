import { afterAll, expect, it } from 'vitest';
import { awaitEnd } from '#tasks/get-task.ts';
import { acceptTask, runTaskOnce } from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());
const never = new AbortController().signal;

it('a task is waited for until it has ended, and is answered as it is then', async () => {
  const task = await acceptTask(system, ['first']);
  const ended = awaitEnd(system, task, { seconds: 20, signal: never });
  await runTaskOnce(system, task, { works: { first: async () => ({}) } });
  expect(await ended).toMatchObject({ id: task.id, state: 'COMPLETED' });
});

it('one that goes on is answered when the time is over, or that of the function', async () => {
  const task = await acceptTask(system, ['first']);
  expect(await awaitEnd(system, task, { seconds: 0, signal: never })).toBe(task);
  expect(await awaitEnd(system, task, { seconds: 1, signal: never })).toMatchObject({ state: 'STARTED' });
  const over = new AbortController();
  const waiting = awaitEnd(system, task, { seconds: 20, signal: over.signal });
  over.abort();
  expect(await waiting).toMatchObject({ state: 'STARTED' });
});
