import { FailedOperationError } from '#core/errors.ts';

/** Limits of a document that is read line by line. */
export interface LineLimits {
  /** The sender, for messages. */
  readonly host: string;
  /** Most bytes of the whole document. */
  readonly bytesMax: number;
  /** Most characters of a line. */
  readonly lineLengthMax: number;
}

/**
 * The lines of a UTF-8 text as it arrives, without line ends. Holds no more than a line and a piece in memory.
 *
 * @throws FailedOperationError, while iterating, if the text or a line exceeds its limit.
 */
export async function* readLines(
  body: AsyncIterable<Uint8Array>,
  { host, bytesMax, lineLengthMax }: LineLimits,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) throw new FailedOperationError(`${host} tells more than ${bytesMax} bytes`);
    const lines = decoder.decode(piece, { stream: true }).split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    if (rest.length > lineLengthMax || lines.some(({ length }) => length > lineLengthMax)) {
      throw new FailedOperationError(`${host} tells a line of more than ${lineLengthMax} characters`);
    }
    yield* lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
