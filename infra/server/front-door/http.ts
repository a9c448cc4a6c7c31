import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Logger } from '#core/logger.ts';
import type { Meter } from '#core/meter.ts';
import type { Route } from '#functions/routes.ts';
import { toErrorBody, toErrorHeaders } from '#http/error-body.ts';
import { GarbageCollection } from '#platform/garbage.ts';
import { systemClock } from '#platform/services/system.ts';
import { HttpError, MalformedAnswerError } from '../functions/http-error.ts';
import { FunctionTimeoutError, type Invoker } from '../functions/invoker.ts';
import { ResponseStream } from '../functions/response-streaming.ts';
import { createConnectionRefusal } from './connection-refusal.ts';
import { FrontDoorAccess, findClientCertificate } from './front-door-access.ts';
import { FunctionSlots } from './function-slots.ts';
import { Admission, findRequestKind, type Place } from './http-admission.ts';
import {
  type RefusedRequest,
  readBody,
  refuseSize,
  toAnswerSink,
  writeAnswer,
  writeRefusal,
} from './http-body.ts';
import { parseTarget, type RequestTarget, toProxyEvent } from './http-event.ts';
import { type FrontDoorLimits, frontDoorLimits } from './http-limits.ts';
import { isUpgrade, refuseUpgrade, type UpgradeRoute } from './http-upgrade.ts';
import { startListeners } from './listeners.ts';
import { watchLoopDelay } from './loop-delay.ts';
import { findRefusal, type LoopbackGuardOptions } from './loopback-guard.ts';
import type { FindAgent } from './proved-agents.ts';
import { logRequest } from './request-log.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import { Turns } from './turns.ts';

/** How to serve the API. */
export interface StartHttpOptions {
  readonly routes: readonly Route[];
  readonly invoker: Invoker;
  readonly log: Logger;
  /** Name or address to bind. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Further names allowed in `Host`. */
  readonly allowedHosts: readonly string[];
  /** Whether a further name, in lower case and without a port, is allowed there. Default: none may. */
  readonly allowsHost?: (name: string) => boolean;
  /** The allowed callers; default all. */
  readonly access?: FrontDoorAccess;
  /** Whether each request is logged with its headers and its body. Default: none is. */
  readonly logsRequests?: boolean;
  /** What is taken on at a time. Default {@link frontDoorLimits}. */
  readonly limits?: FrontDoorLimits;
  /** Why nothing can be stored at the moment: functions that store something are not invoked then. Default: it always can be. */
  readonly findObstacle?: () => string | undefined;
  /** Finds the session of an agent that was proved before: agents take turns by these. Default: by their addresses. */
  readonly findAgent?: FindAgent;
  /** By how much this process was late in each of the last two seconds, milliseconds. Default: it is measured. */
  readonly readLoopDelayMs?: () => number;
  /** Finds the row for a path that no row has. Default: such a path is 404. */
  readonly findUnknownRoute?: (method: string) => Promise<Route | undefined>;
  /** Takes over connections that ask for it. Default: none are taken over. */
  readonly upgrades?: UpgradeRoute;
  /** Takes how long requests took, and how they were answered. Default: nobody does. */
  readonly meter?: Meter;
}

/** The running front door. Disposing ends all its connections. */
export interface HttpServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:7002`. */
  readonly url: string;
  /** Takes no new requests; those under way go on. */
  stopAccepting(): void;
}

/**
 * Serves the routes over HTTP, as API Gateway in front of Lambda does: events of the REST proxy integration in, their
 * answers out, errors of its own in Clouddriver's body.
 *
 * @throws Error when the address cannot be bound (`EADDRINUSE`, `EACCES` …)
 */
export async function startHttp(options: StartHttpOptions): Promise<HttpServer> {
  await using starting = new AsyncDisposableStack();
  const { access = new FrontDoorAccess(), upgrades } = options;
  const server = access.createServer({
    // Hundreds of accounts in X-SPINNAKER-ACCOUNTS exceed Node's default of 16 KiB.
    maxHeaderSize: 64 << 10,
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    connectionsCheckingInterval: 5_000,
    // Longer than any client of Spinnaker keeps an idle connection: else it would now and then meet a closed one.
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: (request) => isUpgrade(request, upgrades),
  });
  const { readLoopDelayMs = readDelays(starting) } = options;
  const front = new FrontDoor({ ...options, access, readLoopDelayMs });
  server.on('request', (request, response) => void front.answer(request, response));
  server.on('upgrade', (request, socket, head) => void front.upgrade(request, socket, head));
  server.on('clientError', createConnectionRefusal(options.limits ?? frontDoorLimits));
  const listeners = await startListeners(server, options);
  const running = starting.move();
  return {
    url: `${access.scheme}://${toAuthority(listeners.address, options.host)}`,
    stopAccepting() {
      front.isStopping = true;
      listeners.close();
      upgrades?.close();
    },
    async [Symbol.asyncDispose]() {
      listeners.close();
      upgrades?.close();
      await closeServer(server);
      await running.disposeAsync();
    },
  };
}

function readDelays(starting: AsyncDisposableStack): () => number {
  const delay = starting.use(watchLoopDelay());
  return () => delay.ms;
}

/** What goes along with a request. */
interface Invocation {
  readonly response: ServerResponse;
  readonly stream: ResponseStream;
  readonly requestId: string;
  readonly place: Place;
}

type FrontDoorOptions = StartHttpOptions & { readonly access: FrontDoorAccess };

class FrontDoor {
  isStopping = false;
  readonly #options: FrontDoorOptions;
  readonly #table: RouteTable;
  readonly #hosts: LoopbackGuardOptions;
  readonly #limits: FrontDoorLimits;
  readonly #admission: Admission;
  readonly #largeTurns: Turns;
  /** By the function's module, to which several routes may lead; requests that wait on purpose have slots of their own. */
  readonly #slots = new Map<string, FunctionSlots>();
  readonly #garbage = new GarbageCollection();

  constructor(options: FrontDoorOptions) {
    const { routes, host, allowedHosts, limits = frontDoorLimits } = options;
    this.#options = options;
    this.#table = new RouteTable(routes);
    const names = [host, ...allowedHosts].map((name) => name.toLowerCase());
    this.#hosts = { allowedHosts: names, allowsHost: options.allowsHost };
    this.#limits = limits;
    this.#admission = new Admission(limits, options.readLoopDelayMs);
    this.#largeTurns = new Turns(limits);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    response.setHeader('x-amzn-requestid', requestId);
    response.shouldKeepAlive &&= !this.isStopping;
    const stream = new ResponseStream(toAnswerSink(response));
    using place = this.#admission.createPlace();
    try {
      const answer = await this.#invoke(request, { response, stream, requestId, place });
      if (response.destroyed) stream.destroy();
      else if (stream.writableEnded) await finished(stream);
      else writeAnswer(response, answer);
    } catch (error) {
      // What a function throws is logged already.
      if (error instanceof MalformedAnswerError)
        this.#options.log.error(error.message, { url: request.url, requestId });
      sendError({ request, response, limits: this.#limits }, error);
      // A function that is over its time has no caller to write to any more.
      stream.destroy(new Error('The request is over'));
    }
  }

  /** Lets a connection be taken over by the same rules as a request. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A caller that leaves before the answer is gone.
    socket.on('error', () => socket.destroy());
    using place = this.#admission.createPlace();
    try {
      await this.#admit(request);
      place.enter({ caller: toAddressName(request), account: undefined });
      await this.#options.upgrades?.take(request, socket, head);
    } catch (error) {
      if (!(error instanceof HttpError))
        this.#options.log.error('a connection could not be taken over', { error });
      refuseUpgrade(socket, toHttpError(error));
    }
  }

  async #invoke(
    request: IncomingMessage,
    { response, stream, requestId, place }: Invocation,
  ): Promise<unknown> {
    const receivedAtMs = systemClock.now();
    const target = await this.#admit(request);
    const method = request.method ?? 'GET';
    const match = this.#table.find(method, target.segments) ?? (await this.#findUnknown(method, target));
    if (match === undefined) throw new HttpError(404, `No route for ${method} ${target.path}`);
    if ('allowedMethods' in match) throw refuseMethod(method, match.allowedMethods);
    this.#checkStorage(match.route);
    const caller = findCaller(request, match.route);
    const kind = findRequestKind(match.route);
    place.enter({ caller, account: match.pathParameters['account'], kind });
    // Agents ask all the while, also where there is nothing to do.
    if (match.route.api !== 'agent') this.#garbage.countRequest();
    const { meter, log, logsRequests } = this.#options;
    if (meter !== undefined) measureAnswer(meter, match.route, response);
    const slots = this.#getSlots(match.route, isPausing(match.route, target.query));
    slots.checkCapacity();
    const addBytes = (count: number) => place.addBodyBytes(count);
    const body = await readBody(request, { limits: this.#limits, addBytes });
    const isLarge = body.length >= this.#limits.largeBodyBytes;
    if (isLarge) this.#garbage.schedule();
    const event = toProxyEvent({ ...match, request, target, body, requestId, receivedAtMs });
    event.requestContext.identity.clientCert = findClientCertificate(request);
    if (logsRequests) logRequest(event, response, log);
    checkSize(event, body.length, this.#limits.requestBytesMax);
    const { module, timeoutSeconds } = match.route;
    const turns = (await this.#findTurns(request, match.route)) ?? caller;
    const invoke = () =>
      slots.run(turns, () =>
        this.#options.invoker.invoke({ module, event, timeoutSeconds, requestId, stream }),
      );
    return isLarge ? this.#largeTurns.take(invoke) : invoke();
  }

  /** @throws HttpError 403 for who may not call this server, 401 where a token is missing, 400 for a target or a host that is none */
  async #admit(request: IncomingMessage): Promise<ReturnType<typeof parseTarget>> {
    const refusal = findRefusal(request, this.#hosts);
    if (refusal !== undefined) throw new HttpError(refusal.status, refusal.reason);
    const target = parseTarget(request.url ?? '/');
    await this.#options.access.check(request, target.path);
    return target;
  }

  async #findUnknown(method: string, { path }: RequestTarget): Promise<RouteMatch | undefined> {
    const route = await this.#options.findUnknownRoute?.(method === 'HEAD' ? 'GET' : method);
    return route && { route, pathParameters: { proxy: path.slice(1) } };
  }

  /** @throws HttpError 503 for what would be stored, and cannot be */
  #checkStorage(route: Route): void {
    const obstacle = isWriting(route) ? this.#options.findObstacle?.() : undefined;
    if (obstacle !== undefined) throw new HttpError(503, obstacle, toErrorHeaders(503));
  }

  /** By what an agent takes turns, whose session was proved before: many may come from one address. */
  async #findTurns({ headers }: IncomingMessage, { api }: Route): Promise<string | undefined> {
    // The function reports what is wrong.
    const find = () => this.#options.findAgent?.(headers.authorization).catch(() => undefined);
    const session = api === 'agent' ? await find() : undefined;
    return session && `session ${session}`;
  }

  /** @param pauses whether the request waits on purpose: such take no time of the processor, and no places of the others */
  #getSlots(route: Route, pauses: boolean): FunctionSlots {
    const key = pauses ? `${route.module} pausing` : route.module;
    let slots = this.#slots.get(key);
    if (slots === undefined) {
      const { functionWaitingMax: waitingMax, functionWaitMs: waitMs, functionRequestsMax } = this.#limits;
      const concurrency = pauses ? functionRequestsMax : getConcurrency(route, this.#limits);
      slots = new FunctionSlots({ concurrency, waitingMax, waitMs });
      this.#slots.set(key, slots);
    }
    return slots;
  }
}

/** Invocations of a function at once. Whatever the gate adds, those that read tasks wait for the engines alone. */
function getConcurrency(route: Route, limits: FrontDoorLimits): number {
  if (isWriting(route)) return limits.writingFunctionRequestsMax;
  const { api, uses = [] } = route;
  const readsTasks = api === 'agent' || uses.includes('readTasks') || uses.includes('findAgents');
  return readsTasks ? limits.taskFunctionRequestsMax : limits.functionRequestsMax;
}

/** Records a request once it is over, by the folder and the name of its function. */
function measureAnswer(meter: Meter, { module }: Route, response: ServerResponse): void {
  const beganMs = systemClock.monotonic();
  const [controller = '', method = ''] = module.split('/').slice(-2);
  response.once('close', () => {
    const { statusCode } = response;
    const status = `${Math.floor(statusCode / 100)}xx`;
    const labels = { status, statusCode: String(statusCode), success: String(statusCode < 500) };
    meter.record(
      'controller_invocations',
      { controller, method, ...labels },
      (systemClock.monotonic() - beganMs) / 1_000,
    );
  });
}

/** Whether a request waits for a task's end. */
function isPausing({ access }: Route, query: URLSearchParams): boolean {
  return typeof access === 'object' && access.task === 'READ' && query.has('waitSeconds');
}

/** Whether a function starts or changes tasks, or writes to their table what is known of agents: all of these but those that deal with caches. */
function isWriting({ api, uses = [] }: Route): boolean {
  return uses.includes('writeTasks') || (api === 'agent' && !uses.includes('writeCache'));
}

/** Who asks, as far as anybody says: nobody checks it here. Agents have no user, and strangers reach their routes: those take nobody's name. */
function findCaller(request: IncomingMessage, { api }: Pick<Route, 'api'>): string {
  const user = api === 'agent' ? undefined : request.headers['x-spinnaker-user'];
  return typeof user === 'string' && user !== '' ? `user ${user}` : toAddressName(request);
}

function toAddressName({ socket }: IncomingMessage): string {
  return `address ${socket.remoteAddress}`;
}

function refuseMethod(method: string, allowed: readonly string[]): HttpError {
  const methods = allowed.join(', ');
  return new HttpError(405, `Request method '${method}' is not supported (supported: ${methods})`, {
    allow: methods,
  });
}

/** A body of a megabyte may grow sixfold when it is escaped into the event's JSON; smaller ones cannot exceed. */
function checkSize(event: APIGatewayProxyEvent, bodyBytes: number, bytesMax: number): void {
  if (bodyBytes < bytesMax / 7) return;
  const size = Buffer.byteLength(JSON.stringify(event));
  if (size > bytesMax) throw refuseSize(`its event of ${size} bytes exceeds`, bytesMax);
}

function sendError(refused: RefusedRequest, error: unknown): void {
  const { response } = refused;
  if (response.headersSent) {
    // A reader must not mistake a part for the whole.
    if (!response.writableEnded) response.destroy();
    return;
  }
  const { status, message, headers } = toHttpError(error);
  writeRefusal(refused, {
    statusCode: status,
    headers: {
      ...headers,
      'content-type': 'application/json;charset=UTF-8',
      'x-content-type-options': 'nosniff',
    },
    body: JSON.stringify(toErrorBody(status, message, systemClock.now())),
  });
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof FunctionTimeoutError) return new HttpError(504, 'The function did not answer in time');
  return new HttpError(500, 'Internal error');
}

function toAuthority({ port, family }: AddressInfo, host: string): string {
  const name = family === 'IPv6' && host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `${name}:${port}`;
}

/** Closes a server and its connections at once. */
async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
