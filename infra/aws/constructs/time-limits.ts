import type { Queue } from '#functions/queues.ts';
import type { Schedule } from '#functions/schedules.ts';

/**
 * What is wrong with the times of a queue. A message must stay hidden longer than its function may run, must live to come
 * again, and must not expire among the dead letters, where its age counts on from when it was first sent.
 */
export function findQueueProblems(row: Queue, deadLetterRetentionSeconds: number): string[] {
  const { name, timeoutSeconds, visibilityTimeoutSeconds, retentionSeconds } = row;
  const rules: readonly (readonly [string, boolean])[] = [
    [
      `timeoutSeconds (${timeoutSeconds}) must be less than visibilityTimeoutSeconds (${visibilityTimeoutSeconds})`,
      timeoutSeconds < visibilityTimeoutSeconds,
    ],
    [
      `visibilityTimeoutSeconds (${visibilityTimeoutSeconds}) must be less than retentionSeconds (${retentionSeconds})`,
      visibilityTimeoutSeconds < retentionSeconds,
    ],
    [
      `retentionSeconds (${retentionSeconds}) must be less than that of dead letters (${deadLetterRetentionSeconds})`,
      retentionSeconds < deadLetterRetentionSeconds,
    ],
    [
      `timeoutSeconds (${timeoutSeconds}) must not exceed Lambda's ${lambdaTimeoutMax}`,
      timeoutSeconds <= lambdaTimeoutMax,
    ],
  ];
  return rules.filter(([, holds]) => !holds).map(([complaint]) => `queue ${name}: ${complaint}`);
}

/** What is wrong with the times of a schedule: a run must end before the next one begins. */
export function findScheduleProblems({ name, timeoutSeconds, rateMinutes }: Schedule): string[] {
  if (timeoutSeconds < rateMinutes * 60) return [];
  return [
    `schedule ${name}: timeoutSeconds (${timeoutSeconds}) must be less than ${rateMinutes} minutes, when it runs again`,
  ];
}

/** Seconds that a function may run at most. */
const lambdaTimeoutMax = 900;
