import { inPlaceBytesMax } from '#threads/thread-limits.ts';
import type { ThreadPool } from '#threads/thread-pool.ts';
import type { AnswerQuery, RegistryFacts } from './answer-job.ts';

/** The place in which answers of an account's registry are read. */
export interface AnswerReading {
  readonly account: string;
  /** Threads for large ones. Default: all are read here, where nobody else waits for the processor. */
  readonly threads: ThreadPool | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks for something in an answer of a registry: a small one is read here, a large one in a thread.
 *
 * @throws FailedOperationError for what is no JSON, or too much of it, and what `ThreadPool.run` throws.
 */
export async function readRegistryAnswer(
  query: AnswerQuery,
  { account, threads, signal }: AnswerReading,
): Promise<RegistryFacts> {
  const load = () => import('./answer-job.ts');
  if (threads === undefined || query.body.length <= inPlaceBytesMax) return (await load()).run(query);
  return threads.run({ load, query, account, what: `The answer of ${query.host}`, signal });
}
