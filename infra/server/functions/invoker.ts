import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { waitAtMost } from '#core/deadline.ts';
import type { Logger } from '#core/logger.ts';
import { systemClock } from '#platform/services/system.ts';
import { localAccountId, localRegion } from './local-aws.ts';
import { isStreaming, type ResponseStream } from './response-streaming.ts';

/** A Lambda handler, as its module exports it. */
export type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** Loads the handler of a module, named by its path below `functions/` without extension. */
export type LoadHandler = (module: string) => Promise<Handler>;

/** One invocation. */
export interface Invocation {
  /** Path of the module below `functions/`, without extension. */
  readonly module: string;
  readonly event: unknown;
  readonly timeoutSeconds: number;
  /** Default a fresh UUID. */
  readonly requestId?: string;
  /** Where a function that streams its answer writes it. Such a function fails without it. */
  readonly stream?: ResponseStream;
}

/** A function did not end within its time. It may still be running. */
export class FunctionTimeoutError extends Error {
  override readonly name = 'FunctionTimeoutError';
}

/** Runs functions in this process as Lambda would run them. */
export class Invoker {
  readonly #load: LoadHandler;
  readonly #log: Logger;
  readonly #running = new Set<Promise<unknown>>();
  /** By `performance.now()`: no invocation may last longer once the process is stopping. */
  #stopAtMs = Number.POSITIVE_INFINITY;

  constructor(load: LoadHandler, log: Logger) {
    this.#load = load;
    this.#log = log;
  }

  /**
   * Invokes a function and answers what it answers. A failure is logged, then thrown.
   *
   * @throws FunctionTimeoutError after its time; whatever the function throws
   */
  async invoke(invocation: Invocation): Promise<unknown> {
    const requestId = invocation.requestId ?? randomUUID();
    const running = this.#run(invocation, requestId);
    // One that is over its time counts as running until it really ends.
    const forget = () => this.#running.delete(running);
    this.#running.add(running);
    running.then(forget, forget);
    try {
      return await withTimeout(running, invocation);
    } catch (error) {
      this.#log.error('a function failed', { function: invocation.module, requestId, error });
      throw error;
    }
  }

  /** Loads functions one by one ahead of their first invocation, where a failure will show. */
  async preload(modules: Iterable<string>): Promise<void> {
    for (const module of new Set(modules)) await this.#load(module).catch(() => undefined);
  }

  /**
   * Waits until all invocations have ended, at most so long. Their remaining time shrinks to it, so that workers
   * checkpoint as they do before Lambda's time-out.
   *
   * @returns whether all ended
   */
  async shutDown(timeoutMs: number): Promise<boolean> {
    this.#stopAtMs = performance.now() + timeoutMs;
    return waitAtMost(systemClock, timeoutMs, Promise.allSettled(this.#running));
  }

  async #run({ module, event, timeoutSeconds, stream }: Invocation, requestId: string): Promise<unknown> {
    const handler = await this.#load(module);
    const endsAtMs = performance.now() + timeoutSeconds * 1000;
    const getRemainingTimeInMillis = () =>
      Math.max(0, Math.round(Math.min(endsAtMs, this.#stopAtMs) - performance.now()));
    const context = makeContext(module, requestId, getRemainingTimeInMillis);
    if (!isStreaming(handler)) return handler(event, context);
    if (stream === undefined) throw new Error(`${module} streams its answer, and there is no stream for it`);
    return handler(event, stream, context);
  }
}

/** With a timer of its own: a clock's sleep costs more, and each request has one. */
async function withTimeout(
  running: Promise<unknown>,
  { module, timeoutSeconds }: Invocation,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const fail = () =>
      reject(new FunctionTimeoutError(`${module} timed out after ${timeoutSeconds} seconds`));
    timer = setTimeout(fail, timeoutSeconds * 1000);
  });
  try {
    return await Promise.race([running, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function makeContext(module: string, requestId: string, getRemainingTimeInMillis: () => number): Context {
  const functionName = module.slice(module.lastIndexOf('/') + 1);
  return {
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: toFunctionArn(functionName),
    memoryLimitInMB: '1024',
    awsRequestId: requestId,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis,
    done: ignore,
    fail: ignore,
    succeed: ignore,
  };
}

function toFunctionArn(functionName: string): string {
  return `arn:aws:lambda:${localRegion}:${localAccountId}:function:${functionName}`;
}

/** The callbacks of old Node runtimes: handlers here answer by promise. */
function ignore(): void {}
