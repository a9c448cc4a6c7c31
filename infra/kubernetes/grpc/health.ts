import {
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { asString, type JsonObject } from '#core/json.ts';

/** Full name of the service by which callers ask whether another one serves. */
export const healthService = 'grpc.health.v1.Health';

/** Who watches at a time. */
const watchersMax = 100;

type Stream = ServerWritableStream<JsonObject, JsonObject>;

/** Tells whether calls are taken: of the whole server, named by an empty text, and of each service. */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Map<Stream, string>();
  #isServing = true;

  /** @param services full names */
  constructor(services: readonly string[]) {
    this.#services = new Set(['', ...services]);
  }

  /** From now on nothing new is taken. Who watches is told. */
  stop(): void {
    this.#isServing = false;
    for (const [stream, service] of this.#watchers) {
      stream.write({ status: this.#getStatus(service) });
      stream.end();
    }
    this.#watchers.clear();
  }

  /** What answers the calls. */
  get implementation(): UntypedServiceImplementation {
    return {
      Check: (call: ServerUnaryCall<JsonObject, JsonObject>, callback: sendUnaryData<JsonObject>) => {
        const service = asString(call.request['service']) ?? '';
        if (this.#services.has(service)) callback(null, { status: this.#getStatus(service) });
        else callback({ code: status.NOT_FOUND, details: 'There is no such service' });
      },
      Watch: (stream: Stream) => {
        const service = asString(stream.request['service']) ?? '';
        if (this.#watchers.size >= watchersMax) {
          const details = `${watchersMax} watch already`;
          stream.emit('error', { code: status.RESOURCE_EXHAUSTED, details });
          return;
        }
        this.#watchers.set(stream, service);
        stream.on('cancelled', () => this.#watchers.delete(stream));
        stream.on('close', () => this.#watchers.delete(stream));
        stream.write({ status: this.#getStatus(service) });
      },
    };
  }

  #getStatus(service: string): string {
    if (!this.#services.has(service)) return 'SERVICE_UNKNOWN';
    return this.#isServing ? 'SERVING' : 'NOT_SERVING';
  }
}
