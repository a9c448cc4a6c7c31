import { Metadata, type ServerWritableStream } from '@grpc/grpc-js';
import { type CloseCode, closeCodes, connectionLifeMs, type Hint } from '#agents/agent-connections.ts';
import { type AgentCaller, findTokenCaller, getBearerToken } from '#agents/http/agent-handler.ts';
import { openAgentHub } from '#agents/services/agent-hub.ts';
import { openConnectGates } from '#agents/services/connect-gates.ts';
import { AccessDeniedError, OverloadError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, type JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { parseError } from '#http/error-body.ts';
import type { HeldConnection } from '#infra/server/hints/hint-connections.ts';
import { type HoldOptions, holdConnection } from '#infra/server/hints/hold-connection.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import { type AgentCalls, findText } from './agent-calls.ts';
import { GrpcRefusalError, toServerStatus } from './grpc-refusal.ts';

/** The method that watches. */
export const watchName = 'Sessions.Watch';

/** Messages that may wait to be sent on a stream: who does not read has it ended. */
const waitingMax = 1_024;

/** A stream of work. */
export type WatchStream = ServerWritableStream<JsonObject, JsonObject>;

/** What watches work with. */
export interface WatchesOptions {
  readonly calls: Pick<AgentCalls, 'call' | 'admit' | 'count'>;
  readonly services: Services;
  readonly holding: HoldOptions;
  readonly log: Logger;
}

/** How a stream ends by a code of connections, as HTTP would answer it. */
const refusals: { readonly [code in CloseCode]: GrpcRefusalError } = {
  [closeCodes.goingAway]: toRefusal(503, 'Watch again: this connection is over'),
  [closeCodes.tryLater]: toRefusal(503, 'No further connections are taken at the moment'),
  [closeCodes.unauthenticated]: toRefusal(401, 'The session is over: open another one'),
  [closeCodes.replaced]: toRefusal(409, 'Another connection took the place of this one', 'replaced'),
  [closeCodes.malformed]: toRefusal(400, 'Expected another message'),
  [closeCodes.protocol]: toRefusal(400, 'Expected another protocol'),
};

/** Tells agents of work over gRPC, each by a stream that lasts: `Sessions.Watch`. */
export class Watches implements Disposable {
  readonly #options: WatchesOptions;
  readonly #open = new Set<Watch>();
  #isClosed = false;

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /** Answers a call. Never throws: what is refused the status of the stream tells. */
  take(stream: WatchStream): void {
    const watch = new Watch(stream, this.#options.log);
    this.#open.add(watch);
    void watch.ended.then(() => this.#open.delete(watch));
    if (this.#isClosed) watch.close(closeCodes.goingAway);
    else void this.#begin(stream, watch).catch((error: unknown) => watch.fail(error));
  }

  /** Ends all, and takes no others. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const watch of this.#open) watch.close(closeCodes.goingAway);
  }

  async #begin(stream: WatchStream, watch: Watch): Promise<void> {
    const { calls, holding } = this.#options;
    calls.admit(stream);
    const { connection, refusal } = await calls.count(async () => {
      const { caller, id } = await this.#findCaller(stream);
      const held = toConnection(watch, caller, id);
      return { connection: held, refusal: await holdConnection(held, watch.ended, holding) };
    });
    if (refusal !== undefined) return watch.close(refusal);
    // It is told of what comes from now on: what there is it is told besides, maybe twice.
    watch.begin();
    const { session } = connection;
    const { work } = await calls.call({ name: 'Sessions.ListWork' }, stream, { session });
    for (const each of asJsonArray(work)) watch.write(asJsonObject(each) ?? {});
  }

  /** @throws GrpcRefusalError for a token that proves no session, or another one, and where too many come at once */
  async #findCaller({ metadata, request }: WatchStream): Promise<{ caller: AgentCaller; id: string }> {
    try {
      const hub = await openAgentHub(this.#options.services);
      const token = getBearerToken({ findHeader: (name) => findText(metadata, name) });
      const caller = await findTokenCaller(hub, token);
      if (asString(request['session']) !== caller.session.id)
        throw new AccessDeniedError('The token is of another session');
      openConnectGates(hub.all).connections.enter();
      return { caller, id: hub.randomness.id() };
    } catch (error) {
      const { status, message } = parseError(error, systemClock.now());
      // A defect is to be logged.
      if (status === 500) throw error;
      const retryAfterSeconds = error instanceof OverloadError ? error.retryAfterSeconds : undefined;
      throw new GrpcRefusalError({ status, message, retryAfterSeconds });
    }
  }
}

/** One stream. */
class Watch {
  readonly #stream: WatchStream;
  readonly #log: Logger;
  readonly #ended = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(stream: WatchStream, log: Logger) {
    this.#stream = stream;
    this.#log = log;
    stream.on('cancelled', () => this.#end());
    this.#timer = setTimeout(() => this.close(closeCodes.goingAway), connectionLifeMs).unref();
  }

  /** Resolves when it has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Says that it is taken. */
  begin(): void {
    if (!this.#isOver) this.#stream.sendMetadata(new Metadata());
  }

  write(work: JsonObject): void {
    if (this.#isOver) return;
    if (this.#stream.writableLength >= waitingMax) this.close(closeCodes.goingAway);
    else this.#stream.write(work);
  }

  /** Ends it with the status of a code. */
  close(code: CloseCode): void {
    this.fail(refusals[code]);
  }

  /** Ends it with the status of an error. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#stream.emit('error', toServerStatus(error, { method: watchName, log: this.#log }));
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#ended.resolve();
  }
}

function toConnection(watch: Watch, { session, accounts }: AgentCaller, id: string): HeldConnection {
  const { id: sessionId, agentId, zone } = session;
  return {
    ...{ id, session: sessionId, agentId, zone, transport: 'grpc', accounts },
    send: (hint) => watch.write(toWork(hint)),
    close: (code) => watch.close(code),
  };
}

function toWork({ kind, account, id }: Hint): JsonObject {
  return { kind, account, id };
}

function toRefusal(status: number, message: string, reason?: string): GrpcRefusalError {
  return new GrpcRefusalError({ status, message, ...(reason !== undefined && { reason }) });
}
