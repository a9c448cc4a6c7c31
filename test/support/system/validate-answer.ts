import { getPath, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import document from '#docs/openapi.json' with { type: 'json' };
import { routes } from '#functions/routes.ts';
import { parseTarget } from '#infra/server/front-door/http-event.ts';
import { type PathMatch, RouteTable } from '#infra/server/front-door/route-table.ts';
import { HttpError } from '#infra/server/functions/http-error.ts';
import { parseNoting } from '../cluster/written-numbers.ts';
import { createValidators } from './open-api-ajv.ts';

/** An answer of the API. */
export interface Answer {
  readonly method: string;
  /** Path of the request, encoded as it was sent, without its query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

/** Characters of a wrong body that an error quotes. */
const bodyShown = 2_000;

const table = new RouteTable(routes);

const validators = createValidators(document);

/**
 * Holds an answer to the committed OpenAPI document. What the front door answers where there is no route must be an error of
 * Clouddriver's form.
 *
 * @throws Error for a status, type or body that the document does not have
 */
export function validateAnswer(answer: Answer): void {
  const { method, path, status, contentType, body } = answer;
  const what = `${method} ${path} answered ${status}`;
  // API Gateway gives an answer a type that has none.
  if ((status === 304 || status === 204) && findResponse(answer) !== undefined && body === '') return;
  const content = findContent(answer);
  if (content === undefined)
    throw new Error(`${what}, which the document does not have: ${body.slice(0, bodyShown)}`);
  const [type = ''] = Object.keys(content);
  if (contentType?.split(';')[0] !== type) throw new Error(`${what} as ${contentType} instead of ${type}`);
  const schema = getPath(content, type, 'schema', '$ref');
  if (schema === undefined) return;
  if (contentType !== 'application/json;charset=UTF-8') throw new Error(`${what} as ${contentType}`);
  const validate = validators.get(String(schema));
  if (validate(parseNoting(body))) return;
  throw new Error(
    `${what}, against ${schema}:\n${validators.explain(validate)}\n${body.slice(0, bodyShown)}`,
  );
}

/** Validates a response that `fetch` answered, and answers it unread. */
export async function checkResponse(response: Response, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET' } = init;
  if (method === 'HEAD') return response;
  validateAnswer({
    method,
    path: new URL(response.url).pathname,
    status: response.status,
    contentType: response.headers.get('content-type'),
    body: await response.clone().text(),
  });
  return response;
}

/** Content by media type, as the document has it for the answer. */
function findContent(answer: Answer): JsonObject | undefined {
  const content = getPath(findResponse(answer), 'content');
  return isJsonObject(content) ? content : undefined;
}

/** What the document has for the answer. */
function findResponse({ method, path, status }: Answer): JsonValue | undefined {
  const match = findMatch(method, path);
  const isRouted = match !== undefined && 'route' in match;
  const responses = isRouted
    ? getPath(document, 'paths', match.route.path, match.route.method.toLowerCase(), 'responses')
    : document.components.responses;
  const found = isRouted
    ? getPath(responses, String(status))
    : Object.values(responses as JsonObject).find((each) => isErrorOf(each, status));
  const name = getPath(found, '$ref');
  return name === undefined ? found : resolve(String(name));
}

/** Undefined for a path that is malformed, too: the front door refuses it before it looks for a route. */
function findMatch(method: string, path: string): PathMatch {
  try {
    return table.find(method, parseTarget(path).segments);
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

function isErrorOf(response: JsonValue, status: number): boolean {
  const schema = resolve(String(getPath(response, 'content', 'application/json', 'schema', '$ref')));
  return getPath(schema, 'properties', 'status', 'const') === status;
}

/** What a reference of the document refers to. */
function resolve(reference: string): JsonValue | undefined {
  return getPath(document, ...reference.split('/').slice(1));
}
