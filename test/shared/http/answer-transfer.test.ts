import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createStreamTransfer } from '#http/answer-transfer.ts';
import type { AnswerSink } from '#infra/server/functions/response-streaming.ts';
import { offerResponseStreaming, ResponseStream } from '#infra/server/functions/response-streaming.ts';

beforeAll(() => {
  vi.stubGlobal('awslambda', undefined);
  offerResponseStreaming();
});
afterAll(() => vi.unstubAllGlobals());

/** A sink whose taker goes away after some bytes, with the code of an error of the system. */
class LeavingSink implements AnswerSink {
  readonly taken: string[] = [];
  readonly #code: string;

  constructor(code: string) {
    this.#code = code;
  }

  begin(): void {}

  async write(bytes: Buffer): Promise<void> {
    if (this.taken.length > 0) throw Object.assign(new Error('gone'), { code: this.#code });
    this.taken.push(bytes.toString());
  }

  end(): void {}
}

async function* arrive(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < 1_000; count += 1) yield Buffer.from('piece');
}

describe('a streamed answer', () => {
  const send = (sink: AnswerSink) =>
    createStreamTransfer(new ResponseStream(sink)).send({ status: 200, headers: {}, body: arrive() });

  it('whose taker is gone ends, and nothing went wrong', async () => {
    const sink = new LeavingSink('EPIPE');
    await expect(send(sink)).resolves.toBeUndefined();
    expect(sink.taken).toEqual(['piece']);
  });

  it('that breaks off in any other way says so', async () => {
    await expect(send(new LeavingSink('EIO'))).rejects.toThrow('gone');
  });
});
