import middy from '@middy/core';
import contentNegotiation from '@middy/http-content-negotiation';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import type { LogFields, Logger } from '../../core/logger.ts';
import type { AuditRecord } from '../../core/tasks/audit.ts';
import { isResponseStreaming } from '../config.ts';
import { addLogFields, runWithLogFields, toInvocationFields } from '../context/logger.ts';
import type { Identity } from '../identity/identifier.ts';
import { getRoute } from './access-table.ts';
import { type Answer, type AnswerBody, awaitFirstPiece, compress } from './answer.ts';
import { streamAnswer, toProxyResult } from './answer-transfer.ts';
import { type ApiRequest, createRequest, findHeader, toLogFields } from './api-request.ts';
import { AuditTrail } from './audit-trail.ts';
import { parseError, toErrorBody, toErrorHeaders } from './error-body.ts';
import type { AdmitOptions, RequestAccess } from './request-access.ts';

export type { ApiRequest } from './api-request.ts';

/** A response. */
export interface ApiResponse {
  readonly status: number;
  /** JSON text, or bytes of any type, which may go out as they come in. */
  readonly body: AnswerBody;
  /** Default: Clouddriver's JSON type. */
  readonly contentType?: string;
  /** Further headers by name. */
  readonly headers?: { readonly [name: string]: string };
}

/** What every function's context has. */
export interface LoggingContext {
  readonly log: Logger;
}

/** Of every answer: no browser is to guess what it holds. */
const safeHeaders = { 'X-Content-Type-Options': 'nosniff' };

const jsonType = 'application/json;charset=UTF-8';

/** Milliseconds before the end of the function's time at which it answers that its time is over. */
const answerBeforeEndMs = 100;

/** 200 with a value as JSON. */
export function ok(value: unknown): ApiResponse {
  return { status: 200, body: JSON.stringify(value) };
}

/** 200 with JSON text made elsewhere. */
export function okText(body: string): ApiResponse {
  return { status: 200, body };
}

/**
 * A Lambda function behind API Gateway's REST proxy integration. Where responses are streamed it takes the stream to which its
 * answer goes; elsewhere it returns the answer.
 */
export type ApiFunction =
  | StreamifyHandler<APIGatewayProxyEvent, void>
  | ((event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>);

/** Makes the answer to a request. Never rejects. */
type Respond = (event: APIGatewayProxyEvent, lambda: Context) => Promise<Answer>;

/** Who lets callers in, and writes down what they did. */
export interface Gate {
  /**
   * Asks what the row of the request's route asks.
   *
   * @throws AccessDeniedError, UnauthenticatedError or UnavailableError where the caller is not let in; Error for a route without a row.
   */
  admit(event: APIGatewayProxyEvent, options: AdmitOptions): Promise<RequestAccess>;
  /** Writes down what is to be recorded. Never throws. */
  record(records: readonly AuditRecord[]): Promise<void>;
}

/** How a route is answered. */
export interface ApiLogic<C extends LoggingContext> {
  /** Gives the function's context; called with each request, so it should remember what it made. */
  open(): C | Promise<C>;
  run(request: ApiRequest, context: C): Promise<ApiResponse>;
}

/**
 * Makes a Lambda function of a route's logic: the caller let in by the gate, the request parsed, anything thrown turned into
 * Clouddriver's error body, the answer compressed for who accepts it, and what matters recorded.
 */
export function makeApiFunction<C extends LoggingContext>(
  { open, run }: ApiLogic<C>,
  gate: Gate,
): ApiFunction {
  // By event, not by answer: a function that is out of time is answered for, and what it did is recorded all the same.
  const trails = new WeakMap<APIGatewayProxyEvent, AuditTrail>();
  const respond = withTimeout(async (event, _lambda, { signal }) => {
    const trail = new AuditTrail(event);
    trails.set(event, trail);
    try {
      const context = await open();
      const onIdentified = (identity: Identity): void => {
        trail.identify(identity);
        // Instead of what the header says.
        addLogFields({ user: identity.user });
      };
      const access = trail.begin(await gate.admit(event, { context, signal, onIdentified }));
      const request = createRequest(event, { signal, access, audit: (act) => trail.note(act) });
      return await awaitFirstPiece(toAnswer(await run(request, context)));
    } catch (error) {
      trail.fail(error);
      return toErrorAnswer(error, open);
    }
  });
  const record = async (event: APIGatewayProxyEvent, { status }: Answer): Promise<void> =>
    gate.record(trails.get(event)?.listRecords(status) ?? []);
  const parts = { respond, open, record };
  return isResponseStreaming() ? makeStreaming(parts) : makeBuffered(parts);
}

/** What both kinds of functions are made of. */
interface FunctionParts<C extends LoggingContext> {
  readonly respond: Respond;
  open(): C | Promise<C>;
  /** Writes down what is to be recorded of a request and its answer. */
  record(event: APIGatewayProxyEvent, answer: Answer): Promise<void>;
}

function makeStreaming<C extends LoggingContext>({ respond, open, record }: FunctionParts<C>): ApiFunction {
  return awslambda.streamifyResponse<APIGatewayProxyEvent>((event, stream, lambda) =>
    runWithLogFields({ ...toInvocationFields(lambda), ...toLogFields(event) }, async () => {
      const answer = await respond(event, lambda);
      try {
        await streamAnswer(acceptsGzip(lambda) ? compress(answer) : answer, stream);
      } catch (error) {
        if (isBrokenPipe(error)) return;
        // Thrown, so that API Gateway breaks the answer off instead of ending it as if it were whole.
        await logError(open, 'an answer broke off', { error });
        throw error;
      } finally {
        // The caller has the answer already: he does not wait for the audit.
        await record(event, answer);
      }
    }),
  );
}

/** Whoever asked is gone: nobody is to be told, and nothing went wrong. */
function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

function makeBuffered<C extends LoggingContext>({ respond, open, record }: FunctionParts<C>): ApiFunction {
  return (event: APIGatewayProxyEvent, lambda: Context) =>
    runWithLogFields({ ...toInvocationFields(lambda), ...toLogFields(event) }, async () => {
      const answer = await respond(event, lambda);
      await record(event, answer);
      try {
        // API Gateway makes bytes of base64 for whom it sees accept them.
        const mayCompress = acceptsGzip(lambda) && findHeader(event, 'accept') !== undefined;
        return await toProxyResult(mayCompress ? compress(answer) : answer);
      } catch (error) {
        return toProxyResult(await toErrorAnswer(error, open));
      }
    });
}

/** Only encodings are negotiated: Clouddriver ignores `Accept`. */
const negotiation: Parameters<typeof contentNegotiation>[0] = {
  parseCharsets: false,
  parseLanguages: false,
  parseMediaTypes: false,
  availableEncodings: ['gzip', 'identity'],
  failOnMismatch: false,
};

/** Answers that the time is over before Lambda ends the function, and negotiates how the answer is encoded. */
function withTimeout(
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
    return answer === 'over' ? toTimeoutAnswer(event) : answer;
  };
}

/** What was negotiated, which stands in Lambda's context. */
function acceptsGzip(lambda: Context & { preferredEncoding?: unknown }): boolean {
  return lambda.preferredEncoding === 'gzip';
}

function toAnswer({ status, body, contentType, headers }: ApiResponse): Answer {
  return { status, body, headers: { ...safeHeaders, ...headers, 'Content-Type': contentType ?? jsonType } };
}

async function toErrorAnswer<C extends LoggingContext>(
  error: unknown,
  open: () => C | Promise<C>,
): Promise<Answer> {
  const body = parseError(error, Date.now());
  if (body.status >= 500) await logError(open, 'request failed', { status: body.status, error });
  return toAnswer({ status: body.status, body: JSON.stringify(body), headers: toErrorHeaders(body.status) });
}

/** Who waited for a task should try again, and Orca does that on 503 alone. A cluster, or a host, may never answer. */
function toTimeoutAnswer(event: APIGatewayProxyEvent): Answer {
  const status = getRoute(event).uses?.includes('readTasks') ? 503 : 504;
  const message = 'The function ran out of time before what it waited for answered';
  const body = JSON.stringify(toErrorBody(status, message, Date.now()));
  return toAnswer({ status, body, headers: toErrorHeaders(status) });
}

/** Logs a failure; where the failure is that there is no context, on the console. */
async function logError<C extends LoggingContext>(
  open: () => C | Promise<C>,
  message: string,
  fields: LogFields & { readonly error: unknown },
): Promise<void> {
  const context = await Promise.resolve()
    .then(open)
    .catch(() => undefined);
  if (context === undefined) console.error(fields.error);
  else context.log.error(message, fields);
}
