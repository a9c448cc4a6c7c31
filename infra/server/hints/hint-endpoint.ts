import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { type CloseCode, closeCodes, connectionLifeMs, type Hint } from '#agents/agent-connections.ts';
import { type AgentCaller, findTokenCaller, getBearerToken } from '#agents/http/agent-handler.ts';
import {
  FrameError,
  frameBytesMax,
  parseFrame,
  toPingFrame,
  toWorkFrame,
} from '#agents/protocol/hint-frames.ts';
import { openAgentHub } from '#agents/services/agent-hub.ts';
import { openConnectGates } from '#agents/services/connect-gates.ts';
import { UnauthenticatedError } from '#core/errors.ts';
import type { Services } from '#platform/services/services.ts';
import { HttpError } from '../functions/http-error.ts';
import { connectionsMax, type HeldConnection } from './hint-connections.ts';
import { type HoldOptions, holdConnection } from './hold-connection.ts';

/** Bytes that may wait to be sent on a connection: one that does not read is ended. */
const waitingBytesMax = 64 << 10;

/** Milliseconds that the other side has to answer the close of a connection. */
const closeMs = 1_000;

/** Connections without a valid session, at a time: each learns it from its close code. Further ones are answered 401. */
const refusedMax = 64;

/** How connections are looked after, milliseconds. */
export interface HintTimes {
  /** Between two pings of each connection. */
  readonly pingMs: number;
  /** Without a sign of life, after which a connection is ended. */
  readonly silenceMs: number;
}

/** What connections for hints work with. */
export interface HintEndpointOptions extends HoldOptions {
  readonly services: Services;
  readonly times: HintTimes;
}

/** Takes connections of agents over which they are sent hints: WebSockets. */
export class HintEndpoint implements Disposable {
  readonly #options: HintEndpointOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
  });
  /** Of each connection, when it was last heard of, and when it began: milliseconds of the monotonic clock. */
  readonly #sockets = new Map<WebSocket, { heardMs: number; readonly sinceMs: number }>();
  readonly #timer: NodeJS.Timeout;
  /** Connections that are about to be closed, for nothing proves whose they are. They take no place of others. */
  #refused = 0;
  #isClosed = false;

  constructor(options: HintEndpointOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#lookAfter(), options.times.pingMs).unref();
  }

  /**
   * Takes a connection over. If its token is invalid, the close code says why.
   *
   * @throws HttpError where there are too many; OverloadError where too many come at once; VisibleError where agents are not served
   */
  async take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (this.#isClosed || this.#sockets.size >= connectionsMax)
      throw new HttpError(503, 'No further connections are taken at the moment', { 'retry-after': '5' });
    const hub = await openAgentHub(this.#options.services);
    const header = request.headers.authorization;
    const caller = await findCaller(async () =>
      findTokenCaller(hub, getBearerToken({ findHeader: () => header })),
    );
    if (socket.destroyed) return;
    if (caller === undefined) return this.#refuse(request, socket, head);
    openConnectGates(this.#options.services).connections.enter();
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#watch(webSocket);
      if (this.#isClosed) return close(webSocket, closeCodes.goingAway);
      void this.#connect(webSocket, caller, hub.randomness.id()).catch((error: unknown) => {
        this.#options.log.error('a connection of an agent could not be taken', { error });
        close(webSocket, closeCodes.tryLater);
      });
    });
  }

  /** Ends all connections. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const webSocket of this.#sockets.keys()) close(webSocket, closeCodes.goingAway);
  }

  /** @throws HttpError where many others are being refused */
  #refuse(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#refused >= refusedMax) throw new HttpError(401, 'The token proves no session');
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#refused += 1;
      webSocket.on('error', (error) =>
        this.#options.log.debug('a connection that was refused failed', { error }),
      );
      webSocket.once('close', () => {
        this.#refused -= 1;
      });
      close(webSocket, closeCodes.unauthenticated);
    });
  }

  /** Has whatever comes on a connection dealt with, from its beginning: nothing of it is lost. */
  #watch(webSocket: WebSocket): void {
    const nowMs = performance.now();
    const state = { heardMs: nowMs, sinceMs: nowMs };
    this.#sockets.set(webSocket, state);
    webSocket.on('error', (error) => this.#options.log.debug('a connection of an agent failed', { error }));
    webSocket.on('close', () => this.#sockets.delete(webSocket));
    webSocket.on('pong', () => {
      state.heardMs = performance.now();
    });
    webSocket.on('message', (data, isBinary) => {
      state.heardMs = performance.now();
      answer(webSocket, data, isBinary);
    });
  }

  async #connect(webSocket: WebSocket, { session, accounts }: AgentCaller, id: string): Promise<void> {
    const { id: sessionId, agentId, zone } = session;
    const connection: HeldConnection = {
      ...{ id, session: sessionId, agentId, zone, transport: 'websocket', accounts },
      send: (hint) => send(webSocket, hint),
      close: (code) => close(webSocket, code),
    };
    const ended = new Promise((resolve) => webSocket.once('close', resolve));
    const refusal = await holdConnection(connection, ended, this.#options);
    if (refusal !== undefined) close(webSocket, refusal);
  }

  /** Pings all, and ends those from which nothing came for long. */
  #lookAfter(): void {
    const nowMs = performance.now();
    for (const [webSocket, { heardMs, sinceMs }] of this.#sockets) {
      if (nowMs - heardMs > this.#options.times.silenceMs) webSocket.terminate();
      else if (nowMs - sinceMs > connectionLifeMs) close(webSocket, closeCodes.goingAway);
      else if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
    }
  }
}

/** Undefined for a token that proves no session. */
async function findCaller(find: () => Promise<AgentCaller>): Promise<AgentCaller | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof UnauthenticatedError) return undefined;
    throw error;
  }
}

function answer(webSocket: WebSocket, data: RawData, isBinary: boolean): void {
  try {
    if (isBinary) throw new FrameError(closeCodes.malformed, 'expected text');
    const frame = parseFrame(String(data));
    if (frame?.type === 'ping') sendText(webSocket, toPingFrame('pong', frame.n));
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    close(webSocket, error.code, error.message);
  }
}

function send(webSocket: WebSocket, hint: Hint): void {
  const frame = toWorkFrame(hint);
  if (Buffer.byteLength(frame) <= frameBytesMax) sendText(webSocket, frame);
}

function sendText(webSocket: WebSocket, text: string): void {
  if (webSocket.readyState !== webSocket.OPEN) return;
  if (webSocket.bufferedAmount > waitingBytesMax) webSocket.terminate();
  else webSocket.send(text);
}

/** A connection that does not answer that is cut off. */
function close(webSocket: WebSocket, code: CloseCode, reason = ''): void {
  // 123 bytes are what a close frame holds.
  webSocket.close(code, Buffer.from(reason).subarray(0, 123).toString('ascii'));
  setTimeout(() => webSocket.terminate(), closeMs).unref();
}
