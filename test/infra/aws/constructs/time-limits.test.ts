import { describe, expect, it } from 'vitest';
import { type Queue, queues } from '#functions/queues.ts';
import { type Schedule, schedules } from '#functions/schedules.ts';
import { findQueueProblems, findScheduleProblems } from '#infra/aws/constructs/time-limits.ts';

const dayS = 24 * 3600;
const [queue] = queues;
const [schedule] = schedules;

function findProblems(changes: Partial<Queue>): string[] {
  return findQueueProblems({ ...(queue as Queue), ...changes }, 14 * dayS);
}

describe('the times of a queue', () => {
  const times = (timeoutSeconds: number, visibilityTimeoutSeconds: number): Partial<Queue> => {
    return { timeoutSeconds, visibilityTimeoutSeconds };
  };

  it('are in order in the table', () => {
    expect(queues.flatMap((row) => findQueueProblems(row, 14 * dayS))).toEqual([]);
  });

  it.each<[what: string, changes: Partial<Queue>, problem: RegExp]>([
    ['a function that outlives its message', times(60, 60), /timeoutSeconds \(60\)/],
    [
      'a message that expires while it is hidden',
      { retentionSeconds: 960 },
      /visibilityTimeoutSeconds \(960\)/,
    ],
    [
      'a dead letter that is expired when it comes',
      { retentionSeconds: 14 * dayS },
      /retentionSeconds \(1209600\)/,
    ],
    ['a function that Lambda does not run so long', times(901, 902), /900/],
  ])('refuse %s', (_what, changes, problem) => {
    expect(findProblems(changes)).toEqual([expect.stringMatching(problem)]);
  });

  it('may differ by a second', () => {
    expect(findProblems({ ...times(60, 61), retentionSeconds: 62 })).toEqual([]);
  });
});

describe('the times of a schedule', () => {
  it('are in order in the table', () => {
    expect(schedules.flatMap(findScheduleProblems)).toEqual([]);
  });

  it('refuse a run that is not over when the next one begins', () => {
    const problems = findScheduleProblems({ ...(schedule as Schedule), timeoutSeconds: 60, rateMinutes: 1 });
    expect(problems).toEqual([expect.stringContaining('timeoutSeconds (60)')]);
  });
});
