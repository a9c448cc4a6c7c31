import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { queryParametersMax } from '#core/request-limits.ts';
import type { Route } from '#functions/routes.ts';
import { HttpError } from '../functions/http-error.ts';
import { localAccountId } from '../functions/local-aws.ts';

/** The target of a request line, taken apart. */
export interface RequestTarget {
  /** As sent, without the query. */
  readonly path: string;
  /** Decoded; a slash at the end adds none. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** What of a request goes into its event. */
export interface EventRequest extends Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'httpVersion'> {
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** What an event is made from. */
export interface RequestParts {
  readonly request: EventRequest;
  readonly target: RequestTarget;
  readonly route: Route;
  readonly pathParameters: { readonly [name: string]: string };
  readonly body: Buffer;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
}

/**
 * Takes the target of a request line apart.
 *
 * @param url as the client sent it: a path with an optional query
 * @throws HttpError 400 for malformed percent-encoding, control characters, segments that mean a directory, and too many parameters
 */
export function parseTarget(url: string): RequestTarget {
  const [path = '', ...rest] = url.split('?');
  if (!path.startsWith('/')) throw new HttpError(400, 'The request target must be a path');
  const segments = path.slice(1).split('/').map(decodeSegment);
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  const query = rest.join('?');
  checkParameters(query);
  decode(query, 'query');
  return { path, segments, query: new URLSearchParams(query) };
}

/** Counts before anything is made of them. */
function checkParameters(query: string): void {
  const count = query === '' ? 0 : query.split('&', queryParametersMax + 1).length;
  if (count <= queryParametersMax) return;
  throw new HttpError(400, `The query has more than the ${queryParametersMax} parameters that are accepted`);
}

/** Builds the event of API Gateway's REST proxy integration. A body that is not UTF-8 text goes in base64. */
export function toProxyEvent(parts: RequestParts): APIGatewayProxyEvent {
  const { request, target, route, pathParameters, body } = parts;
  const headers = groupHeaders(request.rawHeaders);
  const query = groupValues(target.query);
  const isText = isUtf8(body);
  const httpMethod = route.method;
  return {
    resource: route.path,
    path: target.path,
    httpMethod,
    headers: takeLast(headers),
    multiValueHeaders: toObject(headers),
    queryStringParameters: orNull(takeLast(query)),
    multiValueQueryStringParameters: orNull(toObject(query)),
    pathParameters: orNull(pathParameters),
    stageVariables: null,
    requestContext: toRequestContext(parts),
    body: body.length === 0 ? null : body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

function toRequestContext(parts: RequestParts): APIGatewayProxyEvent['requestContext'] {
  const { request, target, route, requestId, receivedAtMs } = parts;
  return {
    accountId: localAccountId,
    apiId: 'local',
    authorizer: null,
    httpMethod: route.method,
    identity: {
      ...anonymousIdentity,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      userAgent: request.headers['user-agent'] ?? null,
    },
    path: target.path,
    protocol: `HTTP/${request.httpVersion}`,
    requestId,
    requestTimeEpoch: receivedAtMs,
    resourceId: route.path,
    resourcePath: route.path,
    stage: 'local',
  };
}

const anonymousIdentity = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
};

function decodeSegment(segment: string): string {
  const decoded = decode(segment, 'path');
  // biome would take a range of control characters in a pattern for a mistake.
  const hasControls = [...decoded].some((character) => character < ' ' || character === '\x7F');
  if (hasControls) throw new HttpError(400, 'The path holds a control character');
  if (decoded === '.' || decoded === '..') throw new HttpError(400, `The path holds a segment '${decoded}'`);
  return decoded;
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(400, `The ${what} holds a malformed percent-encoding`);
  }
}

/** Values by header, whose name is spelled as it came first. Outside names stand in a map: some are those of every object's members. */
function groupHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const spelled = new Map<string, string>();
  const grouped = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const known = spelled.get(name.toLowerCase()) ?? name;
    spelled.set(name.toLowerCase(), known);
    addValue(grouped, known, rawHeaders[index + 1] ?? '');
  }
  return grouped;
}

function groupValues(query: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of query) addValue(grouped, name, value);
  return grouped;
}

function addValue(grouped: Map<string, string[]>, name: string, value: string): void {
  const values = grouped.get(name);
  if (values === undefined) grouped.set(name, [value]);
  else values.push(value);
}

/** An object with each name as a member of its own, `__proto__` included. */
function toObject(grouped: ReadonlyMap<string, readonly string[]>): { [name: string]: string[] } {
  return Object.fromEntries([...grouped].map(([name, values]) => [name, [...values]]));
}

function takeLast(grouped: ReadonlyMap<string, readonly string[]>): { [name: string]: string } {
  return Object.fromEntries([...grouped].map(([name, values]) => [name, values.at(-1) ?? '']));
}

/** API Gateway says null where there is nothing. */
function orNull<T extends object>(value: T): T | null {
  return Object.keys(value).length === 0 ? null : value;
}
