import { FailedOperationError } from '#core/errors.ts';

/** A line of git's protocol: bytes, or one of its separators. */
export interface Packet {
  readonly kind: 'data' | 'flush' | 'delimiter' | 'end';
  /** Empty for separators. */
  readonly data: Buffer;
}

const marks = ['flush', 'delimiter', 'end'] as const;
const lengthBytes = 4;
const packetBytesMax = 65_520;

/** The most bytes of a nearly empty line: a ref has twice as many, and packs come in large ones. */
const smallPacketBytesMax = 24;

/** The most such lines of an answer. */
export const smallPacketsMax = 10_000;

/** A line as it is sent: after its length in hexadecimal digits, and with a line break at its end. */
export function formatPacket(line: string): string {
  const length = lengthBytes + Buffer.byteLength(line) + 1;
  return `${length.toString(16).padStart(lengthBytes, '0')}${line}\n`;
}

/**
 * Reads lines of git's protocol, as they arrive.
 *
 * @throws FailedOperationError if the body is something else, ends within a line, or has too many nearly empty lines.
 */
export async function* readPackets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Packet> {
  const pieces = new PieceReader(body);
  let small = 0;
  try {
    for (let head = await pieces.read(lengthBytes); head.length > 0; head = await pieces.read(lengthBytes)) {
      const packet = await readPacket(head, pieces);
      if (packet.data.length <= smallPacketBytesMax) small += 1;
      if (small > smallPacketsMax) throw notGit();
      yield packet;
    }
  } finally {
    await pieces.close();
  }
}

async function readPacket(head: Buffer, pieces: PieceReader): Promise<Packet> {
  const text = head.toString('latin1');
  const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : packetBytesMax + 1;
  const { [length]: mark } = marks;
  if (mark !== undefined) return { kind: mark, data: Buffer.alloc(0) };
  if (length < lengthBytes || length > packetBytesMax) throw notGit();
  const data = await pieces.read(length - lengthBytes);
  if (data.length < length - lengthBytes) throw notGit();
  return { kind: 'data', data };
}

/** The error for an answer that is not of git's protocol. It does not quote the answer, which may be anything. */
export function notGit(): FailedOperationError {
  return new FailedOperationError(
    "The answer is not of git's protocol: the reference must be the URL that 'git clone' takes",
  );
}

/** Reads a given number of bytes from pieces of any size. */
class PieceReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** As many bytes as requested, or as many as there are. */
  async read(length: number): Promise<Buffer> {
    const gathered = [this.#rest];
    let held = this.#rest.length;
    while (held < length) {
      const { done, value } = await this.#source.next();
      if (done === true) break;
      gathered.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      held += value.byteLength;
    }
    const all = gathered.length === 1 ? this.#rest : Buffer.concat(gathered);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
