import { createReadStream } from 'node:fs';

/** The answer of a host as passed to a job: all of its bytes, the path of a file with them, or a stream as it arrives. */
export type AnswerBody = Uint8Array | { readonly path: string } | AsyncIterable<Uint8Array>;

/** Bytes that are processed together. */
const pieceBytes = 2 ** 16;

/** The pieces of an answer. */
export function readPieces(body: AnswerBody): AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) return cut(body);
  return 'path' in body ? createReadStream(body.path, { highWaterMark: pieceBytes }) : body;
}

async function* cut(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
