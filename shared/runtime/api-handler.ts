import middy from '@middy/core';
import contentEncoding from '@middy/http-content-encoding';
import contentNegotiation from '@middy/http-content-negotiation';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { InvalidInputError } from '../core/errors.ts';
import { isWithinDepth, type JsonValue } from '../core/json.ts';
import type { Logger } from '../core/logger.ts';
import type { Caller } from '../core/task.ts';
import { parseError, toErrorBody } from './error-body.ts';
import { runWithLogFields } from './logger.ts';

/** A request as functions see it. */
export interface ApiRequest {
  /** Path parameters, decoded. @throws InvalidInputError for a name that the route does not have. */
  getParameter(name: string): string;
  /** Query parameter; the last one when repeated, undefined when absent. */
  findQuery(name: string): string | undefined;
  /** A query flag: `true` in any case is true, absent is `otherwise`. */
  getFlag(name: string, otherwise: boolean): boolean;
  /** Header by its lower-case name. */
  findHeader(name: string): string | undefined;
  /** The body parsed as JSON. @throws InvalidInputError when it is absent or no JSON. */
  parseJson(): JsonValue;
  readonly caller: Caller;
  /** Aborted shortly before the function's time ends. */
  readonly signal: AbortSignal;
}

/** A response. */
export interface ApiResponse {
  readonly status: number;
  /** JSON text, or bytes of any type. */
  readonly body: string | Uint8Array;
  /** Default: Clouddriver's JSON type. */
  readonly contentType?: string;
}

/** What every function's context has. */
interface BaseContext {
  readonly log: Logger;
}

/** Levels of nesting in a body: definitions of custom resources, the deepest manifests, stay below 100. */
const bodyLevelsMax = 500;

const jsonType = 'application/json;charset=UTF-8';

/** 200 with a value as JSON. */
export function ok(value: unknown): ApiResponse {
  return { status: 200, body: JSON.stringify(value) };
}

/** 200 with JSON text made elsewhere. */
export function okText(body: string): ApiResponse {
  return { status: 200, body };
}

/** A Lambda function behind API Gateway's REST proxy integration. */
export type ApiFunction = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * Makes a Lambda function of a route's logic: the request parsed, anything thrown turned into Clouddriver's error body, the
 * answer compressed for who accepts it.
 *
 * @param open gives the function's context; called with each request, so it should remember what it made.
 */
export function apiHandler<C extends BaseContext>(
  open: () => C | Promise<C>,
  run: (request: ApiRequest, context: C) => Promise<ApiResponse>,
): ApiFunction {
  const respond = async (
    event: APIGatewayProxyEvent,
    lambda: Context,
    { signal }: { signal: AbortSignal },
  ): Promise<APIGatewayProxyResult> => {
    const request = createRequest(event, signal);
    return runWithLogFields({ awsRequestId: lambda.awsRequestId, ...request.caller }, async () => {
      try {
        return toResult(await run(request, await open()));
      } catch (error) {
        return toErrorResult(error, open);
      }
    });
  };
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>(respond, {
    timeoutEarlyInMillis: 100,
    timeoutEarlyResponse: toTimeoutResult,
  })
    .use(contentNegotiation(negotiation))
    .use(contentEncoding());
}

/** Only encodings are negotiated: Clouddriver ignores `Accept`. */
const negotiation: Parameters<typeof contentNegotiation>[0] = {
  parseCharsets: false,
  parseLanguages: false,
  parseMediaTypes: false,
  availableEncodings: ['gzip', 'identity'],
  failOnMismatch: false,
};

function createRequest(event: APIGatewayProxyEvent, signal: AbortSignal): ApiRequest {
  const headers = new Map(
    Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const findQuery = (name: string): string | undefined => event.queryStringParameters?.[name] ?? undefined;
  return {
    getParameter: (name) => getParameter(event, name),
    findQuery,
    getFlag: (name, otherwise) => parseFlag(name, findQuery(name), otherwise),
    findHeader: (name) => headers.get(name),
    parseJson: () => parseBody(event),
    caller: parseCaller((name) => headers.get(name)),
    signal,
  };
}

/** API Gateway hands parameters decoded or as they came, depending on how it was reached: names hold no `%`, so decode either. */
function getParameter(event: APIGatewayProxyEvent, name: string): string {
  const text = event.pathParameters?.[name];
  if (text === undefined || text === null) throw new InvalidInputError(`The path has no part '${name}'`);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseFlag(name: string, text: string | undefined, otherwise: boolean): boolean {
  if (text === undefined || text === '') return otherwise;
  const value = text.toLowerCase();
  if (['true', 'on', 'yes', '1'].includes(value)) return true;
  if (['false', 'off', 'no', '0'].includes(value)) return false;
  throw new InvalidInputError(`Query parameter '${name}' must be true or false, not '${text}'`);
}

function parseBody(event: APIGatewayProxyEvent): JsonValue {
  const raw = event.body ?? '';
  const text = event.isBase64Encoded ? Buffer.from(raw, 'base64').toString('utf8') : raw;
  if (text.trim() === '') throw new InvalidInputError('The request must have a body in JSON');
  const value = parseJsonText(text);
  if (isWithinDepth(value, bodyLevelsMax)) return value;
  throw new InvalidInputError(`The body is nested too deep: at most ${bodyLevelsMax} levels are accepted`);
}

function parseJsonText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    // V8's message quotes the text, which may hold a secret: only where it breaks is told.
    const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new InvalidInputError(`The body is not valid JSON${position ? ` (at ${position})` : ''}`);
  }
}

function parseCaller(findHeader: (name: string) => string | undefined): Caller {
  const caller = {
    user: findHeader('x-spinnaker-user'),
    requestId: findHeader('x-spinnaker-request-id'),
    executionId: findHeader('x-spinnaker-execution-id'),
    application: findHeader('x-spinnaker-application'),
  };
  return Object.fromEntries(Object.entries(caller).filter(([, value]) => value !== undefined)) as Caller;
}

function toResult(response: ApiResponse): APIGatewayProxyResult {
  const headers = { 'Content-Type': response.contentType ?? jsonType };
  if (typeof response.body === 'string') {
    return { statusCode: response.status, headers, body: response.body, isBase64Encoded: false };
  }
  const body = Buffer.from(response.body).toString('base64');
  return { statusCode: response.status, headers, body, isBase64Encoded: true };
}

async function toErrorResult<C extends BaseContext>(
  error: unknown,
  open: () => C | Promise<C>,
): Promise<APIGatewayProxyResult> {
  const body = parseError(error, Date.now());
  if (body.status >= 500) {
    const context = await Promise.resolve()
      .then(open)
      .catch(() => undefined);
    if (context === undefined) console.error(error);
    else context.log.error('request failed', { status: body.status, error });
  }
  return toResult({ status: body.status, body: JSON.stringify(body) });
}

function toTimeoutResult(): APIGatewayProxyResult {
  const message = 'The function ran out of time before what it waited for answered';
  return toResult({ status: 504, body: JSON.stringify(toErrorBody(504, message, Date.now())) });
}
