import { pipeline } from 'node:stream';
import { constants, createGzip, gzipSync } from 'node:zlib';

/** An answer in API Gateway's form: status and headers, then the bytes. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Text, or bytes of any type: complete, or as they arrive. */
  readonly body: AnswerBody;
  /** The gzipped body, where several answers share it. Default: it is compressed for this one. */
  readonly pack?: (() => Promise<Uint8Array>) | undefined;
}

/** The body of an answer. */
export type AnswerBody = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Characters below which a text fits into one packet anyway: compressing it costs more than the rest of a small answer. */
const compressedLengthMin = 1_400;

/** Characters up to which a text is compressed at once, in half a millisecond; a longer one piece by piece, while others are served. */
const immediateLengthMax = 1 << 18;

/** The lowest level: lists of objects become a tenth longer than by the default, 6, in a third to a sixth of the time. */
const gzipOptions = { level: constants.Z_BEST_SPEED };

/** Characters of a long text that are encoded at a time. */
const pieceLength = 1 << 16;

/** Compresses a text for a caller that accepts gzip, unless it is short. Bytes stay unchanged: archives are compressed already. */
export function compress(answer: Answer): Answer {
  const { body } = answer;
  if (typeof body !== 'string' || body.length < compressedLengthMin) return answer;
  const packed = body.length > immediateLengthMax ? gzipPieces(answer, body) : gzipSync(body, gzipOptions);
  return { ...toGzipped(answer), body: packed };
}

/** Compresses a long text once for several answers: when the first one needs it. */
export function packOnce(text: string): () => Promise<Uint8Array> {
  let packed: Promise<Uint8Array> | undefined;
  return () => {
    packed ??= Array.fromAsync(gzip(encode(text))).then((pieces) => Buffer.concat(pieces));
    return packed;
  };
}

async function* gzipPieces({ pack }: Answer, text: string): AsyncGenerator<Uint8Array> {
  if (pack === undefined) yield* gzip(encode(text));
  else yield await pack();
}

function toGzipped(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } };
}

function gzip(pieces: Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  // A failure reaches the reader of the output.
  return pipeline(pieces, createGzip(gzipOptions), () => undefined);
}

/** The pieces of a body, none of which needs a copy of the whole. */
export function toPieces(body: AnswerBody): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (typeof body === 'string') return encode(body);
  return body instanceof Uint8Array ? [body] : body;
}

function* encode(text: string): Generator<Uint8Array> {
  for (let start = 0; start < text.length; ) {
    const end = start + pieceLength;
    // A character beyond the first plane is a surrogate pair that must not be split.
    const isPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
    const next = isPair ? end + 1 : end;
    yield Buffer.from(text.slice(start, next));
    start = next;
  }
}

/** Waits for the first piece of a body, so that a failure until then can still be answered as an error. */
export async function awaitFirstPiece(answer: Answer): Promise<Answer> {
  const { body } = answer;
  if (typeof body === 'string' || body instanceof Uint8Array) return answer;
  const pieces = body[Symbol.asyncIterator]();
  const first = await pieces.next();
  return { ...answer, body: continueWith(first, pieces) };
}

async function* continueWith(
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let result = first; result.done !== true; result = await pieces.next()) yield result.value;
  } finally {
    await pieces.return?.();
  }
}
