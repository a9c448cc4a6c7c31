import { finished } from 'node:stream/promises';
import { asString, getPath } from '#core/json.ts';
import type { Invocation, Invoker } from './invoker.ts';
import { ResponseStream } from './response-streaming.ts';

/** What a function answered, whole. */
export interface CollectedAnswer {
  readonly status: number;
  readonly text: string;
  /** `Retry-After`, in seconds; undefined where it does not say. */
  readonly retryAfterSeconds: number | undefined;
}

/** Calls a function, and waits for the end of its answer where it streams that. @throws what `invoke` throws */
export async function collectAnswer(
  invoker: Pick<Invoker, 'invoke'>,
  invocation: Omit<Invocation, 'stream'>,
): Promise<CollectedAnswer> {
  const chunks: Buffer[] = [];
  let description: unknown;
  const stream = new ResponseStream({
    begin: (begun) => {
      description = begun;
    },
    write: async (bytes) => void chunks.push(bytes),
    end: () => undefined,
  });
  const answer = await invoker.invoke({ ...invocation, stream });
  if (!stream.writableEnded) return { ...toHead(answer), text: asString(getPath(answer, 'body')) ?? '' };
  await finished(stream);
  return { ...toHead(description), text: Buffer.concat(chunks).toString('utf8') };
}

function toHead(answer: unknown): Omit<CollectedAnswer, 'text'> {
  const status = getPath(answer, 'statusCode');
  const seconds = Number(getPath(answer, 'headers', 'Retry-After'));
  return {
    status: typeof status === 'number' ? status : 500,
    retryAfterSeconds: Number.isInteger(seconds) && seconds > 0 ? seconds : undefined,
  };
}
