import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AuditedAct } from '#access/audit.ts';
import type { RequestAccess } from '#access/http/request-access.ts';
import { type JsonBounds, JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import { InvalidInputError, TooLargeError } from '#core/errors.ts';
import { JsonNumberError } from '#core/exact-json.ts';
import type { JsonValue } from '#core/json.ts';
import type { LogFields } from '#core/logger.ts';
import {
  bodyLevelsMax,
  bodyMembersMax,
  bodyValuesMax,
  callerHeaderMax,
  queryNamesMax,
  queryParametersMax,
  queryValueMax,
} from '#core/request-limits.ts';
import { largePayloadBytesMax, toTooLargeMessage } from '#tasks/payload-limit.ts';
import type { Caller } from '#tasks/task.ts';
import { type PackedBytesMax, unpackBody } from './packed-body.ts';
import { checkLength, findHeader, findMember, findParameter } from './requests/event-parts.ts';

/** A request as functions see it. */
export interface ApiRequest {
  /** Path parameters, decoded. @throws InvalidInputError for a name that the route does not have. */
  getParameter(name: string): string;
  /** The same; undefined for a name that the route does not have. */
  findParameter(name: string): string | undefined;
  /** Query parameter; the last one when repeated, undefined when absent. */
  findQuery(name: string): string | undefined;
  /**
   * Values of a query parameter: of all its occurrences, each split at its commas, trimmed, without empty ones. Undefined when it is
   * absent; `x=` is an empty list.
   *
   * @throws InvalidInputError for more than {@link queryNamesMax} of them.
   */
  findQueryList(name: string): readonly string[] | undefined;
  /** The target: the same text for the same method, path and query. */
  getTarget(): string;
  /** Names of all query parameters. */
  listQueryNames(): readonly string[];
  /** A query flag: `true` in any case is true, absent is `otherwise`. */
  getFlag(name: string, otherwise: boolean): boolean;
  /** Header by its lower-case name. */
  findHeader(name: string): string | undefined;
  /** The body parsed as JSON. @throws InvalidInputError when it is absent or no JSON. */
  parseJson(): JsonValue;
  /**
   * A body of type `application/gzip`, unpacked and parsed as JSON; one of another type as `parseJson` does.
   *
   * @throws InvalidInputError as `parseJson`; TooLargeError for more bytes than these
   */
  parsePackedJson(bytesMax: PackedBytesMax): JsonValue;
  readonly caller: Caller;
  /** PEM of the client's certificate, which TLS verified; undefined without one. */
  readonly clientCertificate: string | undefined;
  /** ARN of the request's signer, as API Gateway's authorizer found it; undefined without such an authorizer. */
  readonly signer: string | undefined;
  /** How the gate admitted this request. */
  readonly access: RequestAccess;
  /** Records this act in the audit; what the row of the route names is recorded anyway. */
  audit(act: AuditedAct): void;
  /** Aborted shortly before the function's time ends. */
  readonly signal: AbortSignal;
}

/** What accompanies an event. */
export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly access: RequestAccess;
  readonly audit: (act: AuditedAct) => void;
}

/** The request of an event. @throws InvalidInputError for a query, a header or a name of the path that is too long. */
export function createRequest(event: APIGatewayProxyEvent, options: RequestOptions): ApiRequest {
  checkQuery(event);
  for (const name of [userHeader, ...Object.values(callerHeaders)]) {
    checkLength(`Header '${name}'`, findHeader(event, name) ?? '', callerHeaderMax);
  }
  const findQuery = (name: string): string | undefined => findMember(event.queryStringParameters, name);
  return {
    getParameter: (name) => getParameter(event, name),
    findParameter: (name) => findParameter(event, name),
    findQuery,
    findQueryList: (name) => findQueryList(event, name),
    getTarget: () => toTarget(event),
    listQueryNames: () => Object.keys(event.queryStringParameters ?? {}),
    getFlag: (name, otherwise) => parseFlag(name, findQuery(name), otherwise),
    findHeader: (name) => findHeader(event, name),
    parseJson: () => parseBody(event),
    parsePackedJson: (bytesMax) =>
      parseJsonText(unpackBody(event, findHeader(event, 'content-type'), bytesMax)),
    caller: { ...parseCaller(event), ...toUser(options.access) },
    clientCertificate: event.requestContext?.identity?.clientCert?.clientCertPem || undefined,
    signer: event.requestContext?.identity?.userArn || undefined,
    ...options,
  };
}

function toTarget(event: APIGatewayProxyEvent): string {
  const { httpMethod, resource, pathParameters, queryStringParameters, multiValueQueryStringParameters } =
    event;
  const query = multiValueQueryStringParameters ?? queryStringParameters;
  return JSON.stringify([httpMethod, resource, pathParameters, query]);
}

function checkQuery(event: APIGatewayProxyEvent): void {
  const lists = Object.entries(event.multiValueQueryStringParameters ?? {});
  const singles = Object.entries(event.queryStringParameters ?? {});
  const count = lists.reduce((total, [, values]) => total + (values?.length ?? 0), 0);
  if (Math.max(count, singles.length) > queryParametersMax) {
    throw new InvalidInputError(
      `The query has ${Math.max(count, singles.length)} parameters: at most ${queryParametersMax} are accepted`,
    );
  }
  for (const [name, value] of [...singles, ...lists.map(([key, values]) => [key, values?.join()] as const)]) {
    checkLength(`Query parameter '${name.slice(0, nameToldMax)}'`, name, nameMax);
    checkLength(`Query parameter '${name}'`, value ?? '', queryValueMax);
  }
}

/** Characters of the name of a query parameter, and how many of them errors show. */
const nameMax = 256;
const nameToldMax = 32;

function getParameter(event: APIGatewayProxyEvent, name: string): string {
  const value = findParameter(event, name);
  if (value === undefined) throw new InvalidInputError(`The path has no part '${name}'`);
  return value;
}

function findQueryList(event: APIGatewayProxyEvent, name: string): readonly string[] | undefined {
  const last = findMember(event.queryStringParameters, name);
  const values =
    findMember(event.multiValueQueryStringParameters, name) ?? (last === undefined ? undefined : [last]);
  const names = values
    ?.flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
  if (names === undefined || names.length <= queryNamesMax) return names;
  throw new InvalidInputError(
    `Query parameter '${name}' holds ${names.length} names: at most ${queryNamesMax} are accepted; ask for less at once`,
  );
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
  checkSize(raw);
  const text = event.isBase64Encoded ? Buffer.from(raw, 'base64').toString('utf8') : raw;
  if (text.trim() === '') throw new InvalidInputError('The request must have a body in JSON');
  return parseJsonText(text);
}

/** Lambda itself admits nothing larger: this is for other runtimes. */
function checkSize(raw: string): void {
  const size = Buffer.byteLength(raw);
  if (size <= largePayloadBytesMax) return;
  throw new TooLargeError(toTooLargeMessage(`its body of ${size} bytes exceeds`, largePayloadBytesMax));
}

/** Bounds of a body, checked before it is parsed. */
const bodyBounds: JsonBounds = {
  depthMax: bodyLevelsMax,
  valuesMax: bodyValuesMax,
  membersMax: bodyMembersMax,
};

const bodyRefusals: { readonly [bound in keyof JsonBounds]-?: string } = {
  depthMax: `is nested too deep: at most ${bodyLevelsMax} levels are accepted`,
  valuesMax: `holds more values than the ${bodyValuesMax} that are accepted`,
  membersMax: `holds an object of more members than the ${bodyMembersMax} that are accepted`,
};

function parseJsonText(text: string): JsonValue {
  try {
    return parseBoundedJson(text, bodyBounds).value;
  } catch (error) {
    if (error instanceof JsonBoundsError)
      throw new InvalidInputError(`The body ${bodyRefusals[error.bound]}`);
    if (error instanceof JsonNumberError) throw new InvalidInputError(`The body ${error.message}`);
    // V8's message quotes the text, which may hold a secret: only the position is shown.
    const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new InvalidInputError(`The body is not valid JSON${position ? ` (at ${position})` : ''}`);
  }
}

/** The user is the gate's: the header alone proves nothing. */
function toUser({ identity }: RequestAccess): { readonly user: string } | undefined {
  return identity.user === undefined ? undefined : { user: identity.user.slice(0, callerHeaderMax) };
}

const userHeader = 'x-spinnaker-user';

/** The headers that say which Spinnaker request it is part of. */
const callerHeaders = {
  requestId: 'x-spinnaker-request-id',
  executionId: 'x-spinnaker-execution-id',
  application: 'x-spinnaker-application',
} as const;

/** W3C Trace Context, version 00. One of another form is of no use to anybody, and is dropped. */
const traceparentForm = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

function parseCaller(event: APIGatewayProxyEvent): Caller {
  const given = Object.entries(callerHeaders)
    .map(([key, name]) => [key, findHeader(event, name)] as const)
    .filter(([, value]) => value !== undefined);
  const traceparent = findHeader(event, 'traceparent');
  return {
    // Longer ones are refused; the log has their beginning.
    ...Object.fromEntries(given.map(([key, value]) => [key, value?.slice(0, callerHeaderMax)])),
    ...(traceparent !== undefined && traceparentForm.test(traceparent) && { traceparent }),
  };
}

/** The fields of each line of a request's log: the user, and the account and task where the path names them. */
export function toLogFields(event: APIGatewayProxyEvent): LogFields {
  const { account, id } = event.pathParameters ?? {};
  const user = findHeader(event, 'x-spinnaker-user');
  return {
    ...parseCaller(event),
    ...(user && { user: user.slice(0, callerHeaderMax) }),
    ...(account && { account: account.slice(0, callerHeaderMax) }),
    ...(id && { taskId: id.slice(0, callerHeaderMax) }),
  };
}
