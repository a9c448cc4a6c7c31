import type { APIGatewayProxyEvent } from 'aws-lambda';
import { InvalidInputError } from '#core/errors.ts';
import { pathNameMax } from '#core/request-limits.ts';

/** A member of a map whose names come from callers: `constructor` is one only where a caller sent it. */
export function findMember<T>(
  map: { readonly [name: string]: T | undefined } | null | undefined,
  name: string,
): T | undefined {
  return map && Object.hasOwn(map, name) ? (map[name] ?? undefined) : undefined;
}

/** Checks the length of what a caller sent. @throws InvalidInputError for more characters than `max` */
export function checkLength(what: string, text: string, max: number): void {
  if (text.length <= max) return;
  throw new InvalidInputError(`${what} has ${text.length} characters: at most ${max} are accepted`);
}

/** The members of an event about its path. The path and its template may be absent in events from other sources. */
type PathEvent = Pick<APIGatewayProxyEvent, 'pathParameters'> &
  Partial<Pick<APIGatewayProxyEvent, 'resource' | 'path'>>;

/**
 * A path parameter; undefined for a name that the route does not have. API Gateway passes parameters decoded or raw, depending on how it
 * was called; here they are decoded once in any case.
 *
 * This only matters where one holds `%`: it was decoded already if the path has its encoded form in its place. Where the path was decoded,
 * too, that is unknown: a value with `%` is then decoded a second time. No name of an object holds `%`, so checks of names, which come
 * later, refuse anything but plain names from a second decoding.
 */
export function findParameter(event: PathEvent, name: string): string | undefined {
  const text = findMember(event.pathParameters, name);
  if (text === undefined) return undefined;
  checkLength(`The path's part '${name}'`, text, pathNameMax);
  if (!text.includes('%')) return text;
  const sent = findSegment(event, name);
  return sent !== undefined && sent !== text && decode(sent) === text ? text : decode(text);
}

/** The segment of an event's path in place of a parameter; undefined where the event does not have it. */
function findSegment({ resource, path }: PathEvent, name: string): string | undefined {
  const template = resource?.split('/') ?? [];
  const segments = path?.split('/') ?? [];
  const index = template.indexOf(`{${name}}`);
  return index < 0 ? undefined : segments[index];
}

/** A text without its percent-encoding; unchanged where that is malformed. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A header by its lower-case name; undefined when absent. */
export function findHeader(event: APIGatewayProxyEvent, name: string): string | undefined {
  const headers = event.headers ?? {};
  const isNamed = (key: string) => key.length === name.length && key.toLowerCase() === name;
  return headers[Object.keys(headers).find(isNamed) ?? ''];
}
