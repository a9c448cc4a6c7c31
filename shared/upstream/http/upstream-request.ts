import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Identity } from '#access/identity/identifier.ts';
import { findAccounts, findUser } from '#access/identity/identity-headers.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { Route } from '#functions/routes.ts';
import { unknownPath } from '#functions/upstream-routes.ts';
import { findParameter } from '#http/requests/event-parts.ts';
import type { UpstreamRequest } from '../services/upstream-client.ts';

/** The caller, for the upstream. */
export interface ForwardedIdentity {
  readonly identity: Identity;
  /** Whether callers prove who they are: then only what they proved goes upstream. */
  readonly isProven: boolean;
}

/** The request of an event as it goes upstream: without credentials for us, and without headers of the connection. */
export function toUpstreamRequest(
  event: APIGatewayProxyEvent,
  route: Route,
  asking: ForwardedIdentity,
): Omit<UpstreamRequest, 'repetition'> {
  const { body, isBase64Encoded } = event;
  return {
    method: route.method,
    path: toPath(event, route) + toQuery(event),
    headers: toHeaders(event, asking),
    body: body === null ? undefined : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/** API Gateway passes paths encoded or decoded: here each segment is encoded once. @throws InvalidInputError for one that is `.` or `..` */
function toPath(event: APIGatewayProxyEvent, route: Route): string {
  if (route.path === unknownPath) return checkUnknown(event.path);
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeSegment(findParameter(event, name) ?? ''),
  );
}

/** Paths of a Spring application's operators: who may call them is decided where they are, not by the rights of users here. */
const operatorPaths = /^(admin|actuator|env|heapdump|loggers|shutdown|threaddump)$/i;

/**
 * The path, with encoded slashes taken for slashes as some servers do.
 *
 * @throws NotFoundError for a path of its operators; InvalidInputError for a segment that is `.` or `..`, and for what is no encoding
 */
function checkUnknown(path: string): string {
  const segments = decode(path).split(/[/\\]/);
  for (const segment of segments) encodeSegment(segment);
  if (operatorPaths.test(segments.find((segment) => segment !== '') ?? ''))
    throw new NotFoundError(`No route for ${path}: call the Clouddriver itself`);
  return path;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new InvalidInputError('The path is not encoded as a URL');
  }
}

function encodeSegment(segment: string): string {
  if (segment === '.' || segment === '..')
    throw new InvalidInputError(`The path holds a segment '${segment}'`);
  // Spinnaker's `POST /task/{id}:resume` is matched by its colon.
  return encodeURIComponent(segment.toWellFormed()).replaceAll('%3A', ':');
}

function toQuery({ queryStringParameters, multiValueQueryStringParameters }: APIGatewayProxyEvent): string {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(
    multiValueQueryStringParameters ?? queryStringParameters ?? {},
  )) {
    for (const value of [values ?? ''].flat()) query.append(name, value);
  }
  return query.size === 0 ? '' : `?${query}`;
}

/** Headers that go upstream as they came: those of Spinnaker, and those about the body and the answer. */
const passedHeaders = /^(accept|content-type|if-none-match|x-spinnaker-(?!user$|accounts$).*)$/;

function toHeaders(
  event: APIGatewayProxyEvent,
  { identity, isProven }: ForwardedIdentity,
): { readonly [name: string]: string } {
  const passed = Object.entries(event.headers ?? {}).flatMap(([name, value]) =>
    passedHeaders.test(name.toLowerCase()) && value !== undefined
      ? [[name.toLowerCase(), value] as const]
      : [],
  );
  const user = isProven ? identity.user : findUser(event);
  const accounts = isProven ? identity.allowedAccounts : findAccounts(event);
  return {
    'user-agent': 'busdriver',
    ...Object.fromEntries(passed),
    ...(user !== undefined && { 'x-spinnaker-user': user }),
    ...(accounts !== undefined && { 'x-spinnaker-accounts': accounts.join(',') }),
  };
}
