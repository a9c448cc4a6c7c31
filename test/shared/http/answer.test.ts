import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answer, AnswerBody } from '#http/answer.ts';
import { awaitFirstPiece, compress, toPieces } from '#http/answer.ts';

const headers = { 'Content-Type': 'text/plain' };

function answer(body: AnswerBody): Answer {
  return { status: 200, headers, body };
}

async function read(body: AnswerBody): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(toPieces(body)));
}

describe('the pieces of a text', () => {
  it('are together its bytes, wherever its characters lie', async () => {
    const fillers = fc.integer({ min: 65_530, max: 65_540 }).map((length) => 'x'.repeat(length));
    const texts = fc.tuple(fillers, fc.string({ unit: 'grapheme-composite' }), fillers, fc.string());
    await fc.assert(
      fc.asyncProperty(texts, async (parts) => {
        const text = `${parts.join('😀')}😀`;
        expect((await read(text)).equals(Buffer.from(text))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('are none for an empty one', async () => {
    expect(await Array.fromAsync(toPieces(''))).toEqual([]);
  });
});

describe('compression', () => {
  it.each([1_400, 65_536, 262_144, 262_145, 1_000_000])(
    'of a text of %i characters keeps it',
    async (length) => {
      const text = 'häuser '.repeat(length).slice(0, length);
      const packed = compress(answer(text));
      expect(packed.headers).toEqual({ ...headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
      expect(gunzipSync(await read(packed.body)).toString()).toBe(text);
    },
  );

  it('leaves a text that fits into a packet anyhow', () => {
    const text = 'x'.repeat(1_399);
    expect(compress(answer(text))).toEqual(answer(text));
  });

  it('leaves bytes, which are compressed already or may be', () => {
    const bytes = Buffer.alloc(100_000);
    expect(compress(answer(bytes))).toEqual(answer(bytes));
  });
});

describe('a body that arrives', () => {
  async function* arrive(...pieces: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (piece === '!') throw new Error('broken');
      yield Buffer.from(piece);
    }
  }

  it('is whole after its first piece was waited for', async () => {
    const { body } = await awaitFirstPiece(answer(arrive('a', 'b', 'c')));
    expect((await read(body)).toString()).toBe('abc');
    expect((await read((await awaitFirstPiece(answer(arrive()))).body)).length).toBe(0);
  });

  it('fails at once when it fails before its first piece, and later when it fails later', async () => {
    await expect(awaitFirstPiece(answer(arrive('!')))).rejects.toThrow('broken');
    const { body } = await awaitFirstPiece(answer(arrive('a', '!')));
    await expect(read(body)).rejects.toThrow('broken');
  });

  it('is given up by who reads no further', async () => {
    let isClosed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.from('x');
      } finally {
        isClosed = true;
      }
    }
    const { body } = await awaitFirstPiece(answer(endless()));
    for await (const _ of body as AsyncIterable<Uint8Array>) break;
    expect(isClosed).toBe(true);
  });
});
