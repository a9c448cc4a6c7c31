import type { CacheWriter } from '../writer/object-change.ts';

/** Applications from which something was removed, with the earliest time to check the directory, wall time in milliseconds. */
export type WaitingApplications = Map<string, number>;

/** Milliseconds between a removal and the check of the directory: writers need 5 minutes to notice names. */
const pruneDelayMs = 5 * 60_000 + 10_000;

/** Notes applications. One that waits already is not postponed: its check finds that what it lost since then is too recent. */
export function recordWaiting(
  waiting: WaitingApplications,
  applications: readonly string[],
  nowMs: number,
): void {
  for (const application of applications) {
    if (!waiting.has(application)) waiting.set(application, nowMs + pruneDelayMs);
  }
}

/** Removes from the directory what applications lost a while ago. @returns the applications that were checked */
export async function pruneWaiting(
  waiting: WaitingApplications,
  writer: Pick<CacheWriter<never>, 'prune'>,
  nowMs: number,
): Promise<readonly string[]> {
  const due = [...waiting].filter(([, dueMs]) => dueMs <= nowMs).map(([application]) => application);
  if (due.length === 0) return due;
  const left = await writer.prune(due);
  for (const application of due) waiting.delete(application);
  recordWaiting(waiting, left, nowMs);
  return due;
}
