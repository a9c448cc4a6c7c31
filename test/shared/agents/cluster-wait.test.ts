import { expect, it } from 'vitest';
import { parseClusterWaitMs } from '#agents/cluster-wait.ts';
import { parseTaskMessage } from '#tasks/operation-queue.ts';

it.each([
  [undefined, 300_000],
  [0, 0],
  ['60', 60_000],
  [3_600, 3_600_000],
])('operations wait for so long: %j', (clusterWaitSeconds, ms) => {
  const operations = clusterWaitSeconds === undefined ? {} : { clusterWaitSeconds };
  expect(parseClusterWaitMs({ busdriver: { operations } })).toBe(ms);
});

it.each([-1, 3_601, 'soon', true])('a time of no use is refused by the path of its setting: %j', (wrong) => {
  expect(() => parseClusterWaitMs({ busdriver: { operations: { clusterWaitSeconds: wrong } } })).toThrow(
    'busdriver.operations.clusterWaitSeconds',
  );
});

it('a message of an earlier version, or with strange members, is one for its task', () => {
  expect(parseTaskMessage({ taskId: '01A' })).toEqual({ taskId: '01A' });
  expect(parseTaskMessage({ taskId: '01A', account: 'prod', acceptedAtMs: 5 })).toEqual({ taskId: '01A' });
  expect(parseTaskMessage({ account: 'prod' })).toBeUndefined();
});
