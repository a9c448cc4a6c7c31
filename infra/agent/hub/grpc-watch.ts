import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { closeCodes, findHintKind } from '#agents/agent-connections.ts';
import { grpcCodes } from '#agents/protocol/grpc/refusal.ts';
import { workSchema } from '#agents/protocol/messages.ts';
import { waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { type HintEnd, type HintLine, type HintLineOptions, lostCode, openMs } from './hint-line.ts';

/** Dependencies of a watch. */
export interface GrpcWatchOptions extends Omit<HintLineOptions, 'welcome'> {
  readonly stream: ClientReadableStream<JsonObject>;
  /** Milliseconds after which to come again, as the details of an end say; 0 where they do not. */
  readRetryMs(error: ServiceError): number;
}

/** Ends of streams that mean what a code of WebSocket does. An older Busdriver has no such call. */
const codesByStatus: ReadonlyMap<number, number> = new Map([
  [grpcCodes.unauthenticated, closeCodes.unauthenticated],
  [grpcCodes.aborted, closeCodes.replaced],
  [grpcCodes.unimplemented, closeCodes.protocol],
]);

/** A stream of `Sessions.Watch`, over which Busdriver sends hints of work. gRPC's own pings find out whether its connection leads anywhere. */
export class GrpcWatch implements HintLine {
  readonly #options: GrpcWatchOptions;
  readonly #ended = Promise.withResolvers<HintEnd>();
  readonly #opened = Promise.withResolvers<boolean>();
  readonly #over = new AbortController();
  #openedAtMs: number | undefined;

  constructor(options: GrpcWatchOptions) {
    this.#options = options;
    const { stream, log, readRetryMs } = options;
    // A stream that is refused has no metadata but that of its end.
    stream.on('metadata', () => this.#open());
    stream.on('data', (message: JsonObject) => this.#take(message));
    stream.on('error', (error: ServiceError) => {
      if (!this.#over.signal.aborted) log.info('the watch ended', { reason: error.details });
      this.#end(codesByStatus.get(error.code) ?? lostCode, readRetryMs(error));
    });
    stream.on('end', () => this.#end(closeCodes.goingAway));
  }

  get ended(): Promise<HintEnd> {
    return this.#ended.promise;
  }

  async waitUntilOpen(): Promise<boolean> {
    void waits(this.#options.clock, openMs, this.#over.signal).then((isLate) => {
      if (isLate && this.#openedAtMs === undefined) this.close();
    });
    return this.#opened.promise;
  }

  close(): void {
    this.#end(lostCode);
    this.#options.stream.cancel();
  }

  #open(): void {
    this.#openedAtMs = this.#options.clock.monotonic();
    this.#opened.resolve(true);
  }

  #end(code: number, retryAfterMs = 0): void {
    const nowMs = this.#options.clock.monotonic();
    const end = { code, lastedMs: nowMs - (this.#openedAtMs ?? nowMs) };
    this.#ended.resolve(retryAfterMs === 0 ? end : { ...end, retryAfterMs });
    // The waiting code looks at the end.
    this.#opened.resolve(false);
    this.#over.abort('it has ended');
  }

  /** Ignores what cannot be understood: the work is found by asking. */
  #take(message: JsonObject): void {
    const { log, onHint } = this.#options;
    try {
      for (const { kind: name, ...work } of workSchema.parse({ work: [message] }).work) {
        const kind = findHintKind(name);
        if (kind !== undefined) onHint({ kind, ...work });
      }
    } catch (error) {
      log.warn('a hint cannot be read', { reason: getErrorMessage(error) });
    }
  }
}
