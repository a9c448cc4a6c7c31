import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { closeCodes, findHintKind } from '#agents/agent-connections.ts';
import { grpcCodes } from '#agents/protocol/grpc/refusal.ts';
import { workSchema } from '#agents/protocol/messages.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { type HintLineOptions, lostCode, OpeningLine } from './hint-line.ts';

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
export class GrpcWatch extends OpeningLine {
  readonly #options: GrpcWatchOptions;

  constructor(options: GrpcWatchOptions) {
    super(options.clock);
    this.#options = options;
    const { stream, log, readRetryMs } = options;
    // A stream that is refused has no metadata but that of its end.
    stream.on('metadata', () => this.noteOpen());
    stream.on('data', (message: JsonObject) => this.#take(message));
    stream.on('error', (error: ServiceError) => {
      if (!this.over.aborted) log.info('the watch ended', { reason: error.details });
      this.noteEnd(codesByStatus.get(error.code) ?? lostCode, readRetryMs(error));
    });
    stream.on('end', () => this.noteEnd(closeCodes.goingAway));
  }

  close(): void {
    this.noteEnd(lostCode);
    this.#options.stream.cancel();
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
