/** Code that reads large answers of hosts, loaded with the first one. */
import { join } from 'node:path';
import { FailedOperationError } from '#core/errors.ts';
import { GatheredBytes } from '#core/gathered-bytes.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import type { Job, JobModule } from '#threads/job.ts';
import { inPlaceBytesMax } from '#threads/thread-limits.ts';
import { type ThreadPool, threadsOfProcess } from '#threads/thread-pool.ts';
import { openCloneFolder } from '../git/clone-folder.ts';
import type { AnswerBody } from './answer-body.ts';

/** A job that reads the answer of a host. */
export interface AnswerModule<Query, Result> extends JobModule<Query, Result> {
  /** Most bytes of the answer. */
  readonly bytesMax: number;
}

/** A request for something in an answer. */
interface AnswerJob<Query extends AnswerQuery, Result>
  extends Pick<Job<unknown, unknown>, 'account' | 'signal'> {
  load(): Promise<AnswerModule<Query & { readonly body: AnswerBody }, Result>>;
  readonly query: Query;
  readonly options: Pick<ProviderContext, 'placement' | 'clock'>;
}

interface AnswerQuery {
  /** The answering host, for messages. */
  readonly host: string;
}

/** The threads in which answers are read; none in a Lambda function, which has one request at a time. */
export function findThreads({ placement }: Pick<ProviderContext, 'placement'>): ThreadPool | undefined {
  return placement === 'local' ? threadsOfProcess : undefined;
}

/**
 * Looks for something in the answer of a host. A small one is read here; a large one goes into a file first, so that no thread waits for a
 * host, and is then read in a thread.
 *
 * @throws what the job throws, and `ThreadPool.run`; FailedOperationError if the answer is too large.
 */
export async function readAnswer<Query extends AnswerQuery, Result>(
  body: AsyncIterable<Uint8Array>,
  { load, query, options, account, signal }: AnswerJob<Query, Result>,
): Promise<Result> {
  const { run, bytesMax } = await load();
  const runHere = (found: AnswerBody) => run({ ...query, body: found });
  const threads = findThreads(options);
  if (threads === undefined) return runHere(body);
  const pieces = body[Symbol.asyncIterator]();
  try {
    const { bytes, isWhole } = await gather(pieces);
    if (isWhole) return await runHere(bytes);
    await using folder = await openCloneFolder(Number.POSITIVE_INFINITY, options.clock.now());
    const file = await folder.createFile('answer');
    await file.append(bytes);
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      if (file.size + next.value.length > bytesMax) {
        throw new FailedOperationError(`${query.host} tells more than ${bytesMax} bytes`);
      }
      await file.append(next.value);
    }
    const inFile = { ...query, body: { path: join(folder.path, file.name) } };
    return await threads.run({ load, query: inFile, account, signal, what: `The answer of ${query.host}` });
  } finally {
    await pieces.return?.();
  }
}

/** The first bytes: slightly more than may be read here, if there are that many. */
async function gather(pieces: AsyncIterator<Uint8Array>) {
  const gathered = new GatheredBytes();
  while (gathered.length <= inPlaceBytesMax) {
    const { done, value } = await pieces.next();
    if (done === true) return { bytes: gathered.take(), isWhole: true };
    gathered.add(value);
  }
  return { bytes: gathered.take(), isWhole: false };
}
