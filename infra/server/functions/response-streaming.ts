import { Writable } from 'node:stream';
import type { Context } from 'aws-lambda';
import { MalformedAnswerError } from './http-error.ts';

/** A Lambda handler that writes its answer to a stream. */
export type StreamingHandler = (event: unknown, stream: ResponseStream, context: Context) => Promise<unknown>;

/** By this property Lambda's own runtime tells such a handler from one that returns its answer. */
const mark = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Separates the description of an answer from its bytes. */
const delimiter = Buffer.alloc(8);

/** API Gateway looks for the delimiter no further. */
const descriptionBytesMax = 16_384;

/** The receiver of a streamed answer. */
export interface AnswerSink {
  /** Called once, before any byte: `{statusCode, headers, multiValueHeaders}`. Throws for what is none. */
  begin(description: unknown): void;
  /** Takes some bytes, and resolves when it can take more. */
  write(bytes: Buffer): Promise<void>;
  end(): void;
}

/**
 * The stream that a function writes its answer to, as Lambda gives it and API Gateway reads it: a description in JSON, eight
 * null bytes, the body.
 */
export class ResponseStream extends Writable {
  readonly #sink: AnswerSink;
  #prelude: Buffer | undefined;
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(sink: AnswerSink) {
    super();
    this.#sink = sink;
    // Failures reach the function by its writes; one that comes when it writes no more must not end the process.
    this.on('error', () => undefined);
  }

  /** Has the description written ahead of the first bytes. */
  setPrelude(description: unknown): void {
    this.#prelude = Buffer.concat([Buffer.from(JSON.stringify(description)), delimiter]);
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const bytes = this.#prelude === undefined ? chunk : Buffer.concat([this.#prelude, chunk]);
    this.#prelude = undefined;
    this.#take(bytes).then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    const isComplete = this.#head === undefined;
    if (isComplete) this.#sink.end();
    done(isComplete ? undefined : malformed('ended before its description was complete'));
  }

  async #take(bytes: Buffer): Promise<void> {
    const body = this.#head === undefined ? bytes : this.#findBody(Buffer.concat([this.#head, bytes]));
    if (body !== undefined && body.length > 0) await this.#sink.write(body);
  }

  /** What follows the description; undefined while it is incomplete. */
  #findBody(head: Buffer): Buffer | undefined {
    const at = head.subarray(0, descriptionBytesMax).indexOf(delimiter);
    if (at < 0 && head.length >= descriptionBytesMax)
      throw malformed('has no description in its first 16 KB');
    this.#head = at < 0 ? head : undefined;
    if (at < 0) return undefined;
    this.#sink.begin(parseDescription(head.subarray(0, at)));
    return head.subarray(at + delimiter.length);
  }
}

function parseDescription(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw malformed('has a description that is no JSON');
  }
}

function malformed(what: string): MalformedAnswerError {
  return new MalformedAnswerError(`The streamed answer ${what}`);
}

/**
 * Gives functions the global by which Lambda's runtime offers response streaming. To be called before functions are loaded,
 * for they ask for it then.
 */
export function offerResponseStreaming(): void {
  const { awslambda: others } = globalThis as { awslambda?: object };
  const awslambda = { ...others, streamifyResponse, HttpResponseStream: { from: describe } };
  Object.assign(globalThis, { awslambda });
}

function streamifyResponse(handler: StreamingHandler): StreamingHandler {
  return Object.assign(handler, { [mark]: 'response' });
}

function describe(stream: ResponseStream, description: unknown): ResponseStream {
  stream.setPrelude(description);
  return stream;
}

/** Whether a handler writes its answer to a stream. */
export function isStreaming(handler: object): handler is StreamingHandler {
  return Reflect.get(handler, mark) === 'response';
}
