/** One scheduled function: the row from which CDK, the local runtime and the tests are made. */
export interface Schedule {
  readonly name: string;
  /** The function's module below `functions/`, without extension. */
  readonly module: string;
  /** Minutes between two runs, at least 1 (EventBridge's finest rate). */
  readonly rateMinutes: number;
  /** Lambda's time-out in seconds. */
  readonly timeoutSeconds: number;
}

/** Every schedule. */
export const schedules: readonly Schedule[] = [
  { name: 'sweep-tasks', module: 'workers/sweep-tasks', rateMinutes: 1, timeoutSeconds: 50 },
];
