import middy from '@middy/core';
import contentNegotiation from '@middy/http-content-negotiation';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import type { AuditRecord } from '#access/audit.ts';
import { getRoute, type RouteFinder } from '#access/http/access-table.ts';
import { AuditTrail } from '#access/http/audit-trail.ts';
import type { AdmitOptions, GateServices, RequestAccess } from '#access/http/request-access.ts';
import type { Identity } from '#access/identity/identifier.ts';
import type { ErrorBody } from '#contract/answers/errors.ts';
import { OverloadError } from '#core/errors.ts';
import type { LogFields, Logger } from '#core/logger.ts';
import { isResponseStreaming } from '#platform/config.ts';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import { addLogFields, runWithLogFields, toInvocationFields } from '#platform/services/logger.ts';
import type { Services } from '#platform/services/services.ts';
import { wallClock } from '#platform/services/system.ts';
import { type Answer, type AnswerBody, awaitFirstPiece, compress } from './answer.ts';
import { createStreamTransfer, type Transfer, wholeTransfer } from './answer-transfer.ts';
import { type ApiRequest, createRequest, toLogFields } from './api-request.ts';
import { parseError, toErrorBody, toErrorHeaders } from './error-body.ts';
import type { AnsweredRequest } from './request-log.ts';

export type { ApiRequest } from './api-request.ts';

/** A response. */
export interface ApiResponse {
  readonly status: number;
  /** JSON text, or bytes of any type, which may be sent as they arrive. */
  readonly body: AnswerBody;
  /** As {@link Answer} has it. */
  readonly pack?: Answer['pack'];
  /** Default: Clouddriver's JSON type. */
  readonly contentType?: string;
  /** Further headers by name. */
  readonly headers?: { readonly [name: string]: string };
}

/** What every function uses. */
export interface LoggingServices {
  readonly log: Logger;
}

/** Headers of every answer: no browser is to guess its type. */
const safeHeaders = { 'X-Content-Type-Options': 'nosniff' };

const jsonType = 'application/json;charset=UTF-8';

/** Milliseconds before the end of the function's time at which it answers that its time is over. */
const answerBeforeEndMs = 100;

/** 200 with a value as JSON. @typeParam Value the type that the answer's schema describes: see `shared/contract/answers/`. */
export function ok<Value = unknown>(value: Value): ApiResponse & { readonly body: string } {
  return { status: 200, body: JSON.stringify(value) };
}

/** 200 with JSON text made elsewhere. */
export function okText(body: string): ApiResponse {
  return { status: 200, body };
}

/** Takes the stream for its answer. */
type StreamingFunction = StreamifyHandler<APIGatewayProxyEvent, void>;

/** Returns its answer. */
type ReturningFunction = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * A Lambda function behind API Gateway's REST proxy integration. Where responses are streamed it takes the stream for its answer; elsewhere
 * it returns the answer.
 */
export type ApiFunction = ServiceFunction<StreamingFunction> | ServiceFunction<ReturningFunction>;

/** Makes the answer to a request. Never rejects. */
type Respond = (event: APIGatewayProxyEvent, lambda: Context) => Promise<Answer>;

/** Admits callers, and records what they did. */
export interface Gate {
  /** Finds the row of a request's route. Default: it is one of Spinnaker's API. */
  readonly getRoute?: RouteFinder;
  /** Converts an event of another form to a REST API's. Default: it has that form. */
  readEvent?(event: APIGatewayProxyEvent): APIGatewayProxyEvent;
  /**
   * Checks what the row of the request's route asks.
   *
   * @throws AccessDeniedError, UnauthenticatedError or UnavailableError where the caller is not admitted; Error for a route without a row.
   */
  admit(event: APIGatewayProxyEvent, options: AdmitOptions): Promise<RequestAccess>;
  /** Writes audit records. Never throws. */
  record(records: readonly AuditRecord[], all: Services): Promise<void>;
  /** Logs a whole request, where the settings ask for it. Default: logs none. */
  logRequest?(request: AnsweredRequest, services: GateServices): Promise<void>;
}

/** How to answer a route. */
export interface ApiLogic<C extends LoggingServices> {
  /** Opens what the function uses; called with each request, so it should share what it made. */
  open(services: Services): C | Promise<C>;
  run(request: ApiRequest, services: C): Promise<ApiResponse>;
  /** The form of its errors. Default: Clouddriver's. */
  readonly toErrorForm?: ((body: ErrorBody) => object) | undefined;
}

/**
 * Makes a Lambda function from a route's logic: the gate admits the caller, the request is parsed, errors become Clouddriver's error body,
 * the answer is compressed for callers that accept it, and the audit gets its records.
 */
export function makeApiFunction<C extends LoggingServices>(logic: ApiLogic<C>, gate: Gate): ApiFunction {
  const make = (all: Services) => makeDispatch({ ...logic, open: () => logic.open(all) }, { all, gate });
  if (!isResponseStreaming()) {
    return makeFunction((all): ReturningFunction => {
      const dispatch = make(all);
      return (event, lambda) => dispatch(event, lambda, wholeTransfer);
    });
  }
  const { streamifyResponse } = awslambda;
  const call = makeFunction((all): StreamingFunction => {
    const dispatch = make(all);
    return (event, stream, lambda) => dispatch(event, lambda, createStreamTransfer(stream));
  });
  // Marked for Lambda's runtime, which inspects the function itself.
  const { withServices } = call;
  return Object.assign(streamifyResponse(call), {
    withServices: (all: Services) => streamifyResponse(withServices(all)),
  });
}

/** Opens a function's services for one installation, and answers with them. */
interface OpenedLogic<C extends LoggingServices> extends Pick<ApiLogic<C>, 'run' | 'toErrorForm'> {
  open(): C | Promise<C>;
}

/** Answers a request, and sends the answer by a transfer. @throws the error that breaks off an answer that has begun */
type Dispatch = <R>(event: APIGatewayProxyEvent, lambda: Context, transfer: Transfer<R>) => Promise<R>;

function makeDispatch<C extends LoggingServices>(
  logic: OpenedLogic<C>,
  { all, gate }: { readonly all: Services; readonly gate: Gate },
): Dispatch {
  // By event, not by answer: a function that is out of time gets another answer, but what it did is recorded all the same.
  const trails = new WeakMap<APIGatewayProxyEvent, AuditTrail>();
  const opened = new WeakMap<APIGatewayProxyEvent, GateServices>();
  const respond = withTimeout({ ...logic, getRoute: gate.getRoute }, (event, _lambda, { signal }) => {
    const trail = new AuditTrail(event, gate.getRoute);
    trails.set(event, trail);
    const onOpened = (services: GateServices): void => void opened.set(event, services);
    return answer(event, logic, { all, gate, trail, signal, onOpened });
  });
  return (sent, lambda, transfer) => {
    const event = gate.readEvent?.(sent) ?? sent;
    return runWithLogFields({ ...toInvocationFields(lambda), ...toLogFields(event) }, async () => {
      const startedAtMs = performance.now();
      const made = await respond(event, lambda);
      try {
        const mayCompress = acceptsGzip(lambda) && transfer.mayCompress(event);
        return await transfer.send(mayCompress ? compress(made) : made);
      } catch (error) {
        // Thrown, so that API Gateway breaks the answer off instead of ending it as if it were complete.
        if (!transfer.isWhole) await logError(logic.open, 'an answer broke off', { error });
        if (!transfer.isWhole) throw error;
        return transfer.send(await toErrorAnswer(error, logic));
      } finally {
        // A streamed answer has reached the caller: they do not wait for the audit.
        await gate.record(trails.get(event)?.listRecords(made.status) ?? [], all);
        const services = opened.get(event);
        const request = { event, answer: made, durationMs: performance.now() - startedAtMs };
        if (services !== undefined) await gate.logRequest?.(request, services);
      }
    });
  };
}

/** What answering a request needs. */
interface Answering {
  readonly all: Services;
  readonly gate: Gate;
  readonly trail: AuditTrail;
  readonly signal: AbortSignal;
  readonly onOpened: (services: GateServices) => void;
}

/** The answer to a request. Never rejects. */
async function answer<C extends LoggingServices>(
  event: APIGatewayProxyEvent,
  logic: OpenedLogic<C>,
  { all, gate, trail, signal, onOpened }: Answering,
): Promise<Answer> {
  const { open, run } = logic;
  try {
    const services = await open();
    const onIdentified = (identity: Identity): void => {
      trail.identify(identity);
      // Replaces the header's user.
      addLogFields({ user: identity.user });
    };
    const options = { all, services, signal, onOpened, onIdentified, getRoute: gate.getRoute };
    const access = trail.begin(await gate.admit(event, options));
    const request = createRequest(event, { signal, access, audit: (act) => trail.note(act) });
    return await awaitFirstPiece(toAnswer(await run(request, services)));
  } catch (error) {
    trail.fail(error);
    return toErrorAnswer(error, logic);
  }
}

/** Only encodings are negotiated: Clouddriver ignores `Accept`. */
const negotiation: Parameters<typeof contentNegotiation>[0] = {
  parseCharsets: false,
  parseLanguages: false,
  parseMediaTypes: false,
  availableEncodings: ['gzip', 'identity'],
  failOnMismatch: false,
};

/** What the answer needs when the time is over. */
type TimedLogic = Pick<ApiLogic<LoggingServices>, 'toErrorForm'> & Pick<AdmitOptions, 'getRoute'>;

/** Answers that the time is over before Lambda ends the function, and negotiates the encoding of the answer. */
function withTimeout(
  timed: TimedLogic,
  respond: (
    event: APIGatewayProxyEvent,
    lambda: Context,
    options: { signal: AbortSignal },
  ) => Promise<Answer>,
): Respond {
  const timeout = { timeoutEarlyInMillis: answerBeforeEndMs, timeoutEarlyResponse: () => 'over' as const };
  const wrapped = middy<APIGatewayProxyEvent, Answer | 'over'>(respond, timeout).use(
    contentNegotiation(negotiation),
  );
  return async (event, lambda) => {
    const answer = await wrapped(event, lambda);
    return answer === 'over' ? toTimeoutAnswer(event, timed) : answer;
  };
}

/** The negotiated encoding, from Lambda's context. */
function acceptsGzip(lambda: Context & { preferredEncoding?: unknown }): boolean {
  return lambda.preferredEncoding === 'gzip';
}

function toAnswer({ status, body, pack, contentType = jsonType, headers }: ApiResponse): Answer {
  const typeHeaders = status === 304 ? {} : { 'Content-Type': contentType };
  return { status, body, pack, headers: { ...safeHeaders, ...headers, ...typeHeaders } };
}

async function toErrorAnswer<C extends LoggingServices>(
  error: unknown,
  { open, toErrorForm = (body) => body }: OpenedLogic<C>,
): Promise<Answer> {
  const body = parseError(error, wallClock.now());
  const isFailure = body.status >= 500 && !(error instanceof OverloadError);
  if (isFailure) await logError(open, 'request failed', { status: body.status, error });
  const text = JSON.stringify(toErrorForm(body));
  return toAnswer({ status: body.status, body: text, headers: toErrorHeaders(body.status, error) });
}

/** Callers that waited for a task, and agents, should try again: Orca only does so on 503. A cluster, or a host, may never answer. */
function toTimeoutAnswer(
  event: APIGatewayProxyEvent,
  { toErrorForm = (body) => body, getRoute: findRow = getRoute }: TimedLogic,
): Answer {
  const { api, uses = [] } = findRow(event);
  const readsTasks = uses.includes('readTasks') || uses.includes('findAgents');
  const status = api === 'agent' || readsTasks ? 503 : 504;
  const message = 'The function ran out of time before what it waited for answered';
  const body = JSON.stringify(toErrorForm(toErrorBody(status, message, wallClock.now())));
  return toAnswer({ status, body, headers: toErrorHeaders(status) });
}

/** Logs a failure; on the console, where nothing can be opened. */
async function logError<C extends LoggingServices>(
  open: () => C | Promise<C>,
  message: string,
  fields: LogFields & { readonly error: unknown },
): Promise<void> {
  const services = await Promise.resolve()
    .then(open)
    .catch(() => undefined);
  if (services === undefined) console.error(fields.error);
  else services.log.error(message, fields);
}
