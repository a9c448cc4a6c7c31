import { waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, getPath, type JsonValue } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import type { DemoTarget } from './demo-application.ts';
import { type DemoClient, RequestFailedError } from './demo-client.ts';

/** Milliseconds between two looks. Orca looks every five seconds. */
const pollIntervalMs = 50;

/** Width of the column of phases, in characters. */
const phaseWidth = 28;

/** What watching needs. */
export interface WatchOptions {
  readonly client: DemoClient;
  /** Ends the watch, which then rejects with what it waited for. */
  readonly signal: AbortSignal;
}

/** Starts to count. @returns what says how long it has been, such as `12 ms` or `3.1 s` */
export function startStopwatch(): () => string {
  const startedAt = performance.now();
  return () => {
    const ms = performance.now() - startedAt;
    return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  };
}

/** Path of a live manifest. `name` is kind, space, name. */
export function toManifestPath({ account, namespace }: DemoTarget, name: string): string {
  const segments = [account, namespace, name].map(encodeURIComponent);
  return `/manifests/${segments.join('/')}?includeEvents=false`;
}

/**
 * Prints the history of a task as it grows, until the task is completed.
 *
 * @returns what `GET /task/{id}` then answers
 * @throws Error with the task's own reason when it failed, or when the signal came first
 */
export async function watchTask(id: string, { client, signal }: WatchOptions): Promise<JsonValue> {
  const getDuration = startStopwatch();
  let printed = 0;
  for (; !signal.aborted; await waits(systemClock, pollIntervalMs, signal)) {
    const task = await findTask(id, { client, signal });
    for (const line of asJsonArray(getPath(task, 'history')).slice(printed)) {
      console.log(`  ${String(getPath(line, 'phase')).padEnd(phaseWidth)} ${getPath(line, 'status')}`);
      printed += 1;
    }
    if (getPath(task, 'status', 'failed') === true) throw new Error(`Task ${id} failed: ${getReason(task)}`);
    if (task === undefined || getPath(task, 'status', 'completed') !== true) continue;
    console.log(`ok task: completed after ${getDuration()}`);
    return task;
  }
  throw new Error(`Task ${id} is not completed`);
}

function getReason(task: JsonValue | undefined): string {
  return asJsonArray(getPath(task, 'resultObjects'))
    .filter((result) => getPath(result, 'type') === 'EXCEPTION')
    .map((exception) => String(getPath(exception, 'message')))
    .join('; ');
}

/** Undefined while the task cannot be read; Orca, too, asks again. */
async function findTask(id: string, { client, signal }: WatchOptions): Promise<JsonValue | undefined> {
  try {
    return await client.get(`/task/${id}`, signal);
  } catch (error) {
    if (error instanceof RequestFailedError && error.status < 500) throw error;
    return undefined;
  }
}

/**
 * Prints the state of objects whenever it changes, until all are stable.
 *
 * @param names kind, space, name of each
 * @throws Error naming the objects that failed, or at the signal those that are not stable, with what they wait for
 */
export async function watchRollout(
  names: readonly string[],
  target: DemoTarget,
  options: WatchOptions,
): Promise<void> {
  const problems = await Promise.all(names.map((name) => findProblem(name, target, options)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new Error(`Not stable: ${found.join('; ')}`);
}

/** Follows one object until it is stable, has failed, or the signal comes. @returns what is wrong with it, if anything */
async function findProblem(
  name: string,
  target: DemoTarget,
  { client, signal }: WatchOptions,
): Promise<string | undefined> {
  const getDuration = startStopwatch();
  let problem = 'no status was read';
  for (; !signal.aborted; await waits(systemClock, pollIntervalMs, signal)) {
    // Any error means, as for Orca, that the state is not known yet.
    const answer = await client.get(toManifestPath(target, name), signal).catch(getErrorMessage);
    if (signal.aborted) break;
    const is = (state: string) => getPath(answer, 'status', state, 'state') === true;
    const state = is('failed') ? 'failed' : 'stable';
    if (state === 'stable' && is('stable')) {
      console.log(`ok ${name}: stable after ${getDuration()}`);
      return undefined;
    }
    const message = getPath(answer, 'status', state, 'message') ?? 'not stable yet';
    const seen = typeof answer === 'string' ? answer : String(message);
    if (seen !== problem) console.log(`.. ${name}: ${seen}`);
    problem = seen;
    if (state === 'failed') break;
  }
  return `${name}: ${problem}`;
}
