import { createHash } from 'node:crypto';
import { FailedOperationError } from '#core/errors.ts';

/** The expected body. */
export interface ExpectedContent {
  /** The sender, for messages. */
  readonly host: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes; undefined if unknown. */
  readonly size: number | undefined;
}

/**
 * Passes on a body as it arrives, and verifies its digest on the way. The last piece is held back until then, so that no caller gets a
 * complete wrong body.
 *
 * @throws FailedOperationError, while iterating, if the body does not have the digest.
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
    // It is already wrong: no more of it is needed.
    if (received > size) break;
    if (held !== undefined) yield held;
    held = piece;
  }
  if (`sha256:${hash.digest('hex')}` !== digest) {
    throw new FailedOperationError(`${host} answered something else than what has the digest`);
  }
  if (held !== undefined) yield held;
}
