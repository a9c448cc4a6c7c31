import { parentPort, workerData } from 'node:worker_threads';
import type { JobModule } from './job.ts';
import { packError, type ThreadAnswer } from './thread-answer.ts';

/** The entry file of threads. */
export const location = import.meta.url;

/** The data of a thread started for a job. */
export interface ThreadWork {
  readonly busdriverJob: { readonly location: string; readonly query: unknown };
}

if (isThreadWork(workerData)) {
  const { busdriverJob } = workerData;
  parentPort?.postMessage(await answer(busdriverJob));
}

function isThreadWork(data: unknown): data is ThreadWork {
  return typeof data === 'object' && data !== null && 'busdriverJob' in data;
}

async function answer(job: ThreadWork['busdriverJob']): Promise<ThreadAnswer> {
  try {
    const { run }: JobModule<unknown, unknown> = await import(job.location);
    return { result: await run(job.query) };
  } catch (error) {
    return { error: packError(error) };
  }
}
