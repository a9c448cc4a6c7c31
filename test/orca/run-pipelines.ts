import { setTimeout as sleep } from 'node:timers/promises';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { application, type Ending, type Pipeline } from './pipelines.ts';

/** How pipelines are run. */
export interface RunOptions {
  /** Where Orca answers. */
  readonly orca: string;
  readonly user: string;
  /** Milliseconds that each may take. */
  readonly timeoutMs: number;
  /** Milliseconds between two looks. */
  readonly pollIntervalMs: number;
}

/** How a pipeline ended. */
export interface Result {
  readonly name: string;
  readonly expected: Ending;
  /** Orca's status, or what went wrong. */
  readonly status: string;
  /** Where it can be looked at: `/pipelines/…`. */
  readonly ref: string;
}

/** What of Orca's execution is read. */
interface Execution {
  readonly status: string;
  readonly stages?: readonly { readonly type: string; readonly status: string }[];
}

/** How many run at a time. */
const concurrency = 4;

/** Runs pipelines, the last one after all others. It never rejects: what went wrong is the pipeline's status. */
export async function runPipelines(
  pipelines: readonly Pipeline[],
  options: RunOptions,
): Promise<readonly Result[]> {
  const run = async (pipeline: Pipeline): Promise<Result> => {
    const started = { name: pipeline.name, expected: pipeline.ends, ref: '' };
    try {
      return { ...started, ...(await runPipeline(pipeline, options)) };
    } catch (error) {
      return { ...started, status: getErrorMessage(error) };
    }
  };
  const results = await mapConcurrently(pipelines.slice(0, -1), concurrency, run);
  return [...results, ...(await mapConcurrently(pipelines.slice(-1), 1, run))];
}

async function runPipeline({ name, stages, ends }: Pipeline, options: RunOptions) {
  const chained = stages.map((stage, index) => ({
    ...{ ...stage, refId: `${index + 1}`, requisiteStageRefIds: index === 0 ? [] : [`${index}`] },
  }));
  const { user, timeoutMs, pollIntervalMs } = options;
  const trigger = { type: 'manual', user };
  const body = {
    application,
    name,
    stages: chained,
    trigger,
    limitConcurrent: false,
    keepWaitingPipelines: false,
  };
  const { ref } = (await call(options, 'POST /orchestrate', body)) as { readonly ref: string };
  const deadline = performance.now() + timeoutMs;
  let isCancelled = false;
  while (performance.now() < deadline) {
    const { status, stages: shown = [] } = (await call(options, `GET ${ref}`)) as Execution;
    if (!['NOT_STARTED', 'BUFFERED', 'RUNNING', 'PAUSED', 'SUSPENDED'].includes(status)) {
      const last = shown.findLast((each) => !['SUCCEEDED', 'NOT_STARTED'].includes(each.status));
      const at = status !== ends && last ? ` at ${last.type}` : '';
      return { ref, status: status + at };
    }
    if (ends === 'CANCELED' && !isCancelled && status === 'RUNNING') {
      await call(options, `PUT ${ref}/cancel?user=${encodeURIComponent(user)}&reason=test`);
      isCancelled = true;
    }
    await sleep(pollIntervalMs);
  }
  return { ref, status: `it has not ended after ${timeoutMs / 1000} s` };
}

/** @throws Error with the status and the beginning of the answer, where that is no success */
async function call({ orca, user }: RunOptions, request: string, body?: object): Promise<unknown> {
  const [method = '', target = ''] = request.split(' ');
  const answer = await fetch(new URL(target, orca), {
    ...{ method, signal: AbortSignal.timeout(30_000) },
    headers: { 'content-type': 'application/json', 'x-spinnaker-user': user },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${request} answered ${answer.status}: ${text.slice(0, 300)}`);
  return text === '' ? {} : JSON.parse(text);
}
