import { gatherBytes } from './gathered-bytes.ts';

/** An answer of another service of Spinnaker, whose body was not read yet. */
export interface ServiceAnswer {
  readonly statusCode: number;
  readonly body: AsyncIterable<Uint8Array> & {
    on(event: 'error', listener: () => void): unknown;
    destroy(): unknown;
  };
}

/** An answer of no use. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  /** Whether another try may help. */
  readonly isRetryable: boolean;
  /** Its status, where that is the reason. */
  readonly statusCode: number | undefined;

  constructor(message: string, isRetryable: boolean, statusCode?: number) {
    super(message);
    this.isRetryable = isRetryable;
    this.statusCode = statusCode;
  }
}

/** The body of an answer with status 200. @throws RefusedError for another one, and for more than `bytesMax` */
export async function readServiceAnswer(
  { statusCode, body }: ServiceAnswer,
  bytesMax: number,
): Promise<Uint8Array> {
  // A body that is not read to its end must not crash the process when its connection breaks.
  body.on('error', () => {});
  if (statusCode !== 200) {
    body.destroy();
    const isRetryable = statusCode >= 500 || statusCode === 429;
    throw new RefusedError(`it answered ${statusCode}`, isRetryable, statusCode);
  }
  const bytes = await gatherBytes(body, bytesMax);
  if (bytes !== undefined) return bytes;
  throw new RefusedError(`its answer is larger than ${bytesMax} bytes`, false);
}
