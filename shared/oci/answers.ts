import { inPlaceBytesMax } from '#threads/thread-limits.ts';
import type { ThreadPool } from '#threads/thread-pool.ts';
import type { AnswerQuery, RegistryFacts } from './answer-job.ts';

/** Where an account's registry answers are read. */
interface AnswerReading {
  readonly account: string;
  /** Threads for large ones. Default: all are read here, where nothing else needs the processor. */
  readonly threads: ThreadPool | undefined;
  readonly signal: AbortSignal;
}

/**
 * Queries a registry's answer: a small one is read here, a large one in a thread.
 *
 * @throws FailedOperationError for invalid JSON, or too much of it, and what `ThreadPool.run` throws.
 */
export async function readRegistryAnswer(
  query: AnswerQuery,
  { account, threads, signal }: AnswerReading,
): Promise<RegistryFacts> {
  const load = () => import('./answer-job.ts');
  if (threads === undefined || query.body.length <= inPlaceBytesMax) return (await load()).run(query);
  return threads.run({ load, query, account, what: `The answer of ${query.host}`, signal });
}
