import type { MiddlewareObj, Request } from '@middy/core';
import contentNegotiation from '@middy/http-content-negotiation';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { getRoute, type RouteFinder } from '#access/http/access-table.ts';
import type { AuditTrail } from '#access/http/audit-trail.ts';
import type { GateServices } from '#access/http/request-access.ts';
import type { ErrorBody } from '#contract/answers/errors.ts';
import { OverloadError } from '#core/errors.ts';
import type { LogFields, Logger } from '#core/logger.ts';
import { wallClock } from '#platform/services/system.ts';
import { type Answer, compress } from './answer.ts';
import type { Transfer } from './answer-transfer.ts';
import { toAnswer } from './api-response.ts';
import { parseError, toErrorBody, toErrorHeaders } from './error-body.ts';

/** What the parts of one request's handling hand on to each other. */
export interface Exchange {
  readonly transfer: Transfer<unknown>;
  readonly trail: AuditTrail;
  /** What the gate has opened. */
  services?: GateServices;
  /** The answer that the caller got, or the one that broke off. */
  answer?: Answer;
}

/** Lambda's context with what middlewares add to it. */
export interface ApiContext extends Context {
  readonly exchange: Exchange;
  /** Of the negotiation: `gzip`, where the caller accepts it. */
  readonly preferredEncoding?: string;
}

/** The function's time is over. */
class TimeOverError extends Error {
  override name = 'TimeOverError';
  override message = 'The function ran out of time before what it waited for answered';
}

/** Options of middy: so many milliseconds before the end of the function's time it fails, for that is to be answered. */
export const endingEarly = {
  timeoutEarlyInMillis: 100,
  timeoutEarlyResponse(): never {
    throw new TimeOverError();
  },
} as const;

/** Negotiates encodings alone: Clouddriver ignores `Accept`. */
export function negotiating(): ReturnType<typeof contentNegotiation> {
  return contentNegotiation({
    parseCharsets: false,
    parseLanguages: false,
    parseMediaTypes: false,
    availableEncodings: ['gzip', 'identity'],
    failOnMismatch: false,
  });
}

type ApiMiddleware = MiddlewareObj<APIGatewayProxyEvent, unknown, Error, ApiContext>;
type ApiExchange = Request<APIGatewayProxyEvent, unknown, Error, ApiContext>;

/** What answers need of a function. */
export interface AnsweringOptions {
  /** Opens what the function uses. */
  open(): { readonly log: Logger } | Promise<{ readonly log: Logger }>;
  /** The form of its errors. Default: Clouddriver's. */
  readonly toErrorForm?: ((body: ErrorBody) => object) | undefined;
  /** Finds the row of a request's route. Default: it is one of Spinnaker's API. */
  readonly getRoute?: RouteFinder | undefined;
}

/** Sends the answer, compressed for callers that accept it; errors in the form of the logic. */
export function answering(options: AnsweringOptions): ApiMiddleware {
  const send = async (request: ApiExchange, answer: Answer): Promise<void> => {
    const { event, context } = request;
    const { exchange, preferredEncoding } = context;
    const { transfer } = exchange;
    exchange.answer = answer;
    try {
      const mayCompress = preferredEncoding === 'gzip' && transfer.mayCompress(event);
      // A stream has no result, and without one middy takes an error as not handled.
      request.response = (await transfer.send(mayCompress ? compress(answer) : answer)) ?? null;
    } catch (error) {
      if (!transfer.isWhole) await logError(options, 'an answer broke off', { error });
      throw error;
    }
  };
  return {
    after: (request) => send(request, request.response as Answer),
    async onError(request) {
      const { error, event, context } = request;
      const { trail, transfer, answer } = context.exchange;
      // Not handled, so that API Gateway breaks the answer off instead of ending it as if it were complete.
      if (answer !== undefined && !transfer.isWhole) return;
      if (answer === undefined) trail.fail(error);
      await send(request, await toErrorAnswer(error, event, options));
    },
  };
}

async function toErrorAnswer(
  error: unknown,
  event: APIGatewayProxyEvent,
  options: AnsweringOptions,
): Promise<Answer> {
  const { toErrorForm = (body) => body } = options;
  const isOver = error instanceof TimeOverError;
  const body = isOver ? toTimeoutBody(error, event, options) : parseError(error, wallClock.now());
  const isFailure = body.status >= 500 && !isOver && !(error instanceof OverloadError);
  if (isFailure) await logError(options, 'request failed', { status: body.status, error });
  const text = JSON.stringify(toErrorForm(body));
  return toAnswer({ status: body.status, body: text, headers: toErrorHeaders(body.status, error) });
}

/** Callers that waited for a task, and agents, should try again: Orca only does so on 503. A cluster, or a host, may never answer. */
function toTimeoutBody(
  { message }: TimeOverError,
  event: APIGatewayProxyEvent,
  { getRoute: findRow = getRoute }: AnsweringOptions,
): ErrorBody {
  const { api, uses = [] } = findRow(event);
  const readsTasks = uses.includes('readTasks') || uses.includes('findAgents');
  return toErrorBody(api === 'agent' || readsTasks ? 503 : 504, message, wallClock.now());
}

/** Logs a failure; on the console, where nothing can be opened. */
async function logError(
  { open }: Pick<AnsweringOptions, 'open'>,
  message: string,
  fields: LogFields & { readonly error: unknown },
): Promise<void> {
  const services = await Promise.resolve()
    .then(open)
    .catch(() => undefined);
  if (services === undefined) console.error(fields.error);
  else services.log.error(message, fields);
}
