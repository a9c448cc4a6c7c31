import { Worker } from 'node:worker_threads';
import { Semaphore } from '#core/concurrency.ts';
import { FailedOperationError, OverloadError } from '#core/errors.ts';
import { retryAfterSeconds } from '#core/request-limits.ts';
import type { Job } from './job.ts';
import { type ThreadAnswer, unpackError } from './thread-answer.ts';
import { type ThreadLimits, threadLimits } from './thread-limits.ts';

/** Name of the threads in the operating system. */
export const jobThreadName = 'busdriver-job';

/** Milliseconds between two checks of a thread's processor time. */
const lookMs = 100;

/** The jobs of an account. */
interface AccountTurns {
  readonly semaphore: Semaphore;
  /** Waiting and running jobs. */
  jobs: number;
}

/**
 * Threads for input from outside that may take long to read: other work goes on meanwhile, and jobs beyond their limits are ended. Accounts
 * take turns: one job of each runs, and a few wait. Each job has its own thread, which ends with it.
 */
export class ThreadPool {
  readonly #limits: ThreadLimits;
  readonly #threads: Semaphore;
  readonly #accounts = new Map<string, AccountTurns>();
  #jobs = 0;

  constructor(limits: ThreadLimits = threadLimits) {
    this.#limits = limits;
    this.#threads = new Semaphore(limits.threadsMax);
  }

  /**
   * Does a job when its turn comes. Its thread has ended when this returns or throws.
   *
   * @throws OverloadError when too many wait; FailedOperationError when it exceeds its processor time or memory; the signal's reason once
   *   that is aborted; what the job throws.
   */
  async run<Query, Result>(job: Job<Query, Result>): Promise<Result> {
    const { account, signal } = job;
    const turns = this.#enter(account);
    try {
      const release = await turns.semaphore.acquire(signal);
      try {
        return await this.#runNext(job);
      } finally {
        release();
      }
    } finally {
      this.#leave(account, turns);
    }
  }

  #enter(account: string): AccountTurns {
    const { threadsMax, waitingMax, waitingOfAccountMax } = this.#limits;
    const turns = this.#accounts.get(account) ?? { semaphore: new Semaphore(1), jobs: 0 };
    if (turns.jobs > waitingOfAccountMax || this.#jobs >= threadsMax + waitingMax) {
      throw new OverloadError(
        'Too many large answers are waiting to be read: try again later',
        retryAfterSeconds,
      );
    }
    this.#accounts.set(account, turns);
    turns.jobs += 1;
    this.#jobs += 1;
    return turns;
  }

  #leave(account: string, turns: AccountTurns): void {
    turns.jobs -= 1;
    this.#jobs -= 1;
    if (turns.jobs === 0) this.#accounts.delete(account);
  }

  async #runNext<Query, Result>(job: Job<Query, Result>): Promise<Result> {
    const release = await this.#threads.acquire(job.signal);
    try {
      const worker = await startThread(job, this.#limits);
      try {
        return (await waitFor(worker, job, this.#limits)) as Result;
      } finally {
        await worker.terminate();
      }
    } finally {
      release();
    }
  }
}

/** The threads of this process. */
export const threadsOfProcess = new ThreadPool();

async function startThread<Query, Result>(
  { load, query, transfer = [] }: Job<Query, Result>,
  { heapMib }: ThreadLimits,
): Promise<Worker> {
  const [entry, { location }] = await Promise.all([import('./job-thread.ts'), load()]);
  return new Worker(new URL(entry.location), {
    workerData: { busdriverJob: { location, query } } satisfies import('./job-thread.ts').ThreadWork,
    transferList: [...transfer],
    resourceLimits: { maxOldGenerationSizeMb: heapMib },
    name: jobThreadName,
    // It needs no environment, and code that parses hostile texts should have no secrets to lose.
    env: {},
    execArgv: [],
  });
}

function waitFor(
  worker: Worker,
  { what, signal }: Pick<Job<unknown, unknown>, 'what' | 'signal'>,
  { cpuMs, heapMib }: ThreadLimits,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.once('message', (answer: ThreadAnswer) => {
    if ('error' in answer) reject(unpackError(answer.error));
    else resolve(answer.result);
  });
  worker.once('error', (error) => {
    const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(isOutOfMemory ? tooMuch(what, `${heapMib} MiB of memory`) : error);
  });
  worker.once('exit', (code) => reject(new Error(`a thread ended with code ${code} before it was done`)));
  const look = async () => {
    // It fails for a thread that has ended, which another event reports.
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
    if ((user + system) / 1_000 > cpuMs) reject(tooMuch(what, `${cpuMs / 1_000} s of processor time`));
  };
  const timer = setInterval(look, lookMs);
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return promise.finally(() => {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
  });
}

function tooMuch(what: string, share: string): FailedOperationError {
  return new FailedOperationError(`${what} takes more than ${share} to read`);
}
