import type { JsonObject } from '#core/json.ts';

/** The route that does over HTTP what a call does over gRPC. */
export interface HttpTwin {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As in `functions/agent-routes.ts`. */
  readonly path: string;
}

/**
 * The twin of each call, by service and method. A request over gRPC has the parameters of the path and, as other members, those of the
 * query of a GET, or of the body. `Sessions.Watch` has none: over HTTP hints come by WebSocket.
 */
export const httpTwins: ReadonlyMap<string, HttpTwin> = new Map([
  ['Sessions.Open', { method: 'POST', path: '/agent/v1/sessions' }],
  ['Sessions.Renew', { method: 'POST', path: '/agent/v1/sessions/{session}' }],
  ['Sessions.Close', { method: 'DELETE', path: '/agent/v1/sessions/{session}' }],
  ['Sessions.ListWork', { method: 'GET', path: '/agent/v1/sessions/{session}/work' }],
  ['Tasks.Take', { method: 'POST', path: '/agent/v1/tasks/{task}/lease' }],
  ['Tasks.Renew', { method: 'PUT', path: '/agent/v1/tasks/{task}/lease' }],
  ['Tasks.Commit', { method: 'POST', path: '/agent/v1/tasks/{task}/commits' }],
  ['Caching.Claim', { method: 'POST', path: '/agent/v1/caches/{account}/claims' }],
  ['Caching.Progress', { method: 'PUT', path: '/agent/v1/caches/{account}/claims' }],
  ['Caching.GetEpoch', { method: 'GET', path: '/agent/v1/caches/{account}/epoch' }],
  ['Caching.RaiseEpoch', { method: 'PUT', path: '/agent/v1/caches/{account}/epoch' }],
  ['Caching.ListHeads', { method: 'GET', path: '/agent/v1/caches/{account}/heads' }],
  ['Caching.Write', { method: 'POST', path: '/agent/v1/caches/{account}/changes' }],
  ['Caching.Prune', { method: 'POST', path: '/agent/v1/caches/{account}/prunes' }],
  ['Reads.Take', { method: 'POST', path: '/agent/v1/reads/{read}/lease' }],
  ['Reads.Answer', { method: 'PUT', path: '/agent/v1/reads/{read}/answer' }],
]);

/** A request of gRPC as HTTP has it. */
export interface HttpRequest {
  /** Parameters of the path, decoded. */
  readonly parameters: { readonly [name: string]: string };
  /** The path, with its parameters encoded. */
  readonly path: string;
  /** The other members of the message. */
  readonly rest: JsonObject;
}

/** Takes a message apart into a path and the rest. */
export function toHttpRequest({ path }: HttpTwin, message: JsonObject): HttpRequest {
  const rest = new Map(Object.entries(message));
  const parameters = new Map<string, string>();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    parameters.set(name, typeof value === 'string' ? value : '');
    return encodeURIComponent(parameters.get(name) ?? '');
  });
  return { parameters: Object.fromEntries(parameters), path: filled, rest: Object.fromEntries(rest) };
}

/** A request of HTTP as gRPC has it: the name of the call, and its message. */
export interface GrpcRequest {
  readonly name: string;
  readonly message: JsonObject;
}

/** The call that is a request's twin. @param target path, parameters encoded, and query @throws Error for a request without one */
export function toGrpcRequest(method: string, target: string, body: JsonObject = {}): GrpcRequest {
  const [path = '', query = ''] = target.split('?');
  const segments = path.split('/');
  for (const [name, twin] of httpTwins) {
    const parameters = twin.method === method ? matchPath(twin.path.split('/'), segments) : undefined;
    if (parameters === undefined) continue;
    return { name, message: { ...body, ...Object.fromEntries(new URLSearchParams(query)), ...parameters } };
  }
  throw new Error(`${method} ${path} has no twin in gRPC`);
}

function matchPath(names: readonly string[], segments: readonly string[]): JsonObject | undefined {
  if (names.length !== segments.length) return undefined;
  const parameters = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const segment = segments[index] ?? '';
    if (name.startsWith('{')) parameters.set(name.slice(1, -1), decodeURIComponent(segment));
    else if (name !== segment) return undefined;
  }
  return Object.fromEntries(parameters);
}
