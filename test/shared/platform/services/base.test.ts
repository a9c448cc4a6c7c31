import { afterEach, expect, test, vi } from 'vitest';
import { variables } from '#platform/config.ts';
import { openBase, unusedMs } from '#platform/services/base.ts';
import { Services } from '#platform/services/services.ts';

afterEach(() => void vi.useRealTimers());

const needed = {
  [variables.tasksTable]: 'tasks',
  [variables.cacheTable]: 'cache',
  [variables.operationsQueueUrl]: 'https://sqs.example.com/operations',
  [variables.agentsQueueUrl]: 'https://sqs.example.com/agents',
  [variables.busName]: 'bus',
};

test('an installation remembers as much as its environment says', async () => {
  await using services = new Services({ ...needed, [variables.rememberedMib]: '2' });
  const { remembered } = openBase(services);
  const forget = vi.fn();
  remembered.keep({}, 2 ** 20, forget);
  expect(forget).not.toHaveBeenCalled();
  remembered.keep({}, 2 ** 20 + 1, forget);
  expect(forget).toHaveBeenCalledTimes(1);
});

test('an installation forgets what nobody uses, until it is closed', async () => {
  vi.useFakeTimers();
  const services = new Services(needed);
  const { remembered } = openBase(services);
  const [used, unused] = [{}, {}];
  for (const key of [used, unused]) remembered.keep(key, 1, () => undefined);
  vi.advanceTimersByTime(unusedMs);
  remembered.use(used);
  vi.advanceTimersByTime(unusedMs);
  expect(remembered.bytes).toBe(1);
  await services[Symbol.asyncDispose]();
  expect(vi.getTimerCount()).toBe(0);
});
