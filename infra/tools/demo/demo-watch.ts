import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage } from '#core/errors.ts';
import {
  type DemoClient,
  type DemoManifest,
  type DemoTask,
  RequestFailedError,
  toManifestPath,
} from './demo-client.ts';
import type { Screen, ScreenRow } from './demo-screen.ts';
import { formatDuration } from './demo-summary.ts';

/** Milliseconds between two looks. Orca looks every five seconds. */
const pollIntervalMs = 50;

/** Width of the column of phases, in characters. */
const phaseWidth = 28;

/** What watching needs. */
export interface WatchOptions {
  readonly client: DemoClient;
  readonly screen: Screen;
  /** Ends the watch, which then rejects with what it waited for. */
  readonly signal: AbortSignal;
}

/**
 * Prints the history of a task as it grows, until the task is completed.
 *
 * @throws Error with the task's own reason when it failed, or when the signal came first
 */
export async function watchTask(id: string, { client, screen, signal }: WatchOptions): Promise<DemoTask> {
  const row = screen.addRow('task', 'waiting for its worker');
  const startedAt = performance.now();
  let printed = 0;
  while (!signal.aborted) {
    const task = await findTask(id, { client, signal });
    for (const { phase, status } of task?.history.slice(printed) ?? []) {
      screen.print(`  ${screen.dim(phase.padEnd(phaseWidth))} ${status}`);
      printed += 1;
    }
    if (task?.failed === true) throw failRow(row, `Task ${id} failed: ${task.failure}`);
    if (task?.completed === true) {
      row.succeed(`completed after ${formatDuration(performance.now() - startedAt)}`);
      return task;
    }
    await sleepUnlessAborted(signal);
  }
  throw failRow(row, `Task ${id} is not completed`);
}

function failRow(row: ScreenRow, message: string): Error {
  row.fail(message);
  return new Error(message);
}

async function sleepUnlessAborted(signal: AbortSignal): Promise<void> {
  await sleep(pollIntervalMs, undefined, { signal }).catch(() => undefined);
}

/** Undefined while the task cannot be read; Orca, too, asks again. */
async function findTask(
  id: string,
  { client, signal }: Pick<WatchOptions, 'client' | 'signal'>,
): Promise<DemoTask | undefined> {
  try {
    return await client.getTask(id, signal);
  } catch (error) {
    if (error instanceof RequestFailedError && error.status < 500) throw error;
    return undefined;
  }
}

/**
 * Shows the state of objects until all are stable.
 *
 * @param names kind, space, name of each
 * @throws Error naming the objects that failed, or at the signal those that are not stable, with what they wait for
 */
export async function watchRollout(
  names: readonly string[],
  target: { readonly account: string; readonly namespace: string },
  { client, screen, signal }: WatchOptions,
): Promise<void> {
  const problems = await Promise.all(
    names.map(async (name) => {
      const row = screen.addRow(name, 'asking');
      const state = await watchManifest(toManifestPath(target, name), { client, signal, row });
      if (state.stable) return undefined;
      row.fail(state.message);
      return `${name}: ${state.message}`;
    }),
  );
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new Error(`Not stable: ${found.join('; ')}`);
}

/** Follows one object until it is stable, has failed, or the signal comes. @returns its last state */
async function watchManifest(
  path: string,
  { client, signal, row }: Pick<WatchOptions, 'client' | 'signal'> & { readonly row: ScreenRow },
): Promise<DemoManifest> {
  let state: DemoManifest = { stable: false, failed: false, message: 'no status was read' };
  while (!signal.aborted) {
    state = await readManifest(path, { client, signal, known: state });
    if (state.failed) return { ...state, stable: false };
    if (state.stable) {
      row.succeed(state.message === '' ? 'stable' : `stable: ${state.message}`);
      return state;
    }
    row.wait(state.message);
    await sleepUnlessAborted(signal);
  }
  return state;
}

/** Any error means, as for Orca, that the state is not known yet. */
async function readManifest(
  path: string,
  options: Pick<WatchOptions, 'client' | 'signal'> & { readonly known: DemoManifest },
): Promise<DemoManifest> {
  try {
    return await options.client.getManifest(path, options.signal);
  } catch (error) {
    if (options.signal.aborted) return options.known;
    return { stable: false, failed: false, message: getErrorMessage(error) };
  }
}
