import { createHash } from 'node:crypto';
import { FailedOperationError } from '#core/errors.ts';

/** What a body must be. */
export interface ExpectedContent {
  /** Who sends it, for messages. */
  readonly host: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes; undefined where nobody said. */
  readonly size: number | undefined;
}

/**
 * Passes a body on as it comes, and looks at its digest on the way. The last piece is held back until all is known: nobody gets the whole
 * of something else.
 *
 * @throws FailedOperationError, while iterating, when it is something else than what has the digest.
 */
export async function* checkDigest(
  body: AsyncIterable<Uint8Array>,
  { host, digest, size = Number.POSITIVE_INFINITY }: ExpectedContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let received = 0;
  let held: Uint8Array | undefined;
  for await (const piece of body) {
    hash.update(piece);
    received += piece.byteLength;
    // It is something else already: nothing more of it needs to come.
    if (received > size) break;
    if (held !== undefined) yield held;
    held = piece;
  }
  if (`sha256:${hash.digest('hex')}` !== digest) {
    throw new FailedOperationError(`${host} answered something else than what has the digest`);
  }
  if (held !== undefined) yield held;
}
