import * as z from 'zod';
import { apiVersion } from '#core/api-version.ts';
import type { JsonObject } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import type {
  ApiAnswer,
  ApiExamples,
  ApiParameter,
  ApiRequestBody,
  ApiRoute,
  DescribedOperation,
} from './api-route.ts';
import { type ApiTable, createApiTable } from './api-table.ts';
import { ifMatchParameter } from './credentials.ts';
import {
  type ApiError,
  type ApiErrorStatus,
  apiErrors,
  bodyErrors,
  commonErrors,
  plainError,
} from './errors.ts';
import { callerParameters, clientRequestId, dryRun } from './operations.ts';
import {
  accountParameter,
  cacheControlParameter,
  cloudProviderParameter,
  clusterParameter,
  ifNoneMatchParameter,
} from './parameters.ts';
import { applicationParameter, regionParameter } from './resources.ts';

/** The API's document, in OpenAPI 3.1. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** Routes by path, then by method in lower case. */
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonObject } };
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonObject };
    readonly responses: { readonly [name: string]: JsonObject };
    readonly parameters: { readonly [name: string]: JsonObject };
    readonly headers: { readonly [name: string]: JsonObject };
  };
}

const info = {
  title: 'Busdriver',
  version: apiVersion,
  description:
    "The API of Spinnaker's Clouddriver, as far as Kubernetes pipelines need it. Members that are null are left out of " +
    'answers, and unknown members of requests are ignored. Headers that begin with `X-SPINNAKER-` are taken as they are: the ' +
    'network in front decides who may set them.',
  license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
};

/** The API's document, from the tables in `shared/contract/`. @param operations those of all providers, with their descriptions */
export function createOpenApiDocument(operations: readonly DescribedOperation[]): OpenApiDocument {
  const table = createApiTable(operations);
  const names = new SchemaNames(table);
  const paths: { [path: string]: { [method: string]: JsonObject } } = {};
  for (const [key, route] of Object.entries(table.routes)) {
    const [method = '', path = ''] = key.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: toOperation(route, names) };
  }
  const responses = Object.fromEntries(
    [...Object.entries(apiErrors), ['', plainError] as const].map(([status, error]) => [
      error.name,
      { ...(status === '503' && { headers: retryReferences }), ...toErrorResponse(error, names) },
    ]),
  );
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: table.tags,
    paths: Object.fromEntries(Object.entries(paths).sort(([one], [other]) => compareText(one, other))),
    components: {
      schemas: names.toJsonSchemas(),
      responses: { ...responses, NotModified: notModified },
      parameters: Object.fromEntries(sharedParameters.map((each) => [each.name, toParameter(each)])),
      headers: { ...freshnessHeaders, ...tagHeaders, ...retryHeaders },
    },
  };
}

function toErrorResponse({ name, description, schema, examples }: ApiError, names: SchemaNames): JsonObject {
  const schemaName = name.endsWith('Error') ? name : `${name}Error`;
  return { description, content: toJsonContent(names.nameAnswer(schema, schemaName), examples) };
}

/** What an answer out of the cache tells of its age. Where nothing is known, nothing is told. */
const freshnessHeaders = {
  Age: toHeader('Seconds since which the account that is furthest behind may have changed.', {
    type: 'integer',
    minimum: 0,
  }),
  'X-Busdriver-As-Of': toHeader('Everything that was so at this time is in the answer.', {
    type: 'string',
    format: 'date-time',
  }),
  'X-Busdriver-Lag': toHeader(
    'Seconds by account, the worst first: `dev=41, prod=3`. `stale` where it may be more than is known, `unknown` before an ' +
      'account is cached; `*` is each account that is left out.',
    { type: 'string' },
  ),
  'X-Busdriver-Too-Large': toHeader(
    'How many objects and applications of an account are missing since they are too large to be cached: `prod=2`. Only where there ' +
      'are some; `*` is each account that is left out.',
    { type: 'string' },
  ),
};

/** What each answer tells that asks to try again. */
const retryHeaders = {
  'Retry-After': toHeader('Seconds after which to try again.', { type: 'integer', minimum: 1 }),
};

const retryReferences = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } };

/** What an answer is called that a caller may keep and ask for again. */
const tagHeaders = {
  ETag: toHeader(
    'Names what is answered, for `If-None-Match`. Weak: it is the same of a compressed answer.',
    {
      type: 'string',
    },
  ),
};

/** Each header stands once in the document. */
const freshnessReferences = toReferences(freshnessHeaders);
const tagReferences = toReferences(tagHeaders);

function toReferences(headers: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const notModified = {
  description: 'What `If-None-Match` names is what would be answered: there is no body.',
  headers: { ...freshnessReferences, ...tagReferences },
};

function toHeader(description: string, schema: JsonObject): JsonObject {
  return { description, schema };
}

/** Gives each schema a name, so that it stands once in the document and is referred to. */
class SchemaNames {
  readonly #requests = z.registry<{ id: string }>();
  readonly #answers = z.registry<{ id: string }>();

  constructor({ requestSchemas, answerSchemas }: ApiTable) {
    for (const [name, schema] of Object.entries(requestSchemas)) this.#requests.add(schema, { id: name });
    for (const [name, schema] of Object.entries(answerSchemas)) this.#answers.add(schema, { id: name });
  }

  /** Refers to the schema of a request, by its own name if it has one. */
  nameRequest(schema: z.ZodType, name: string): JsonObject {
    return refer(this.#requests, schema, name);
  }

  /** Refers to the schema of an answer, by its own name if it has one. */
  nameAnswer(schema: z.ZodType, name: string): JsonObject {
    return refer(this.#answers, schema, name);
  }

  /** All of them, sorted by name. Of requests the document shows what is accepted, of answers what is sent. */
  toJsonSchemas(): { [name: string]: JsonObject } {
    const options = { uri: toReference, unrepresentable: 'throw' } as const;
    const { schemas: requests } = z.toJSONSchema(this.#requests, { ...options, io: 'input' });
    const { schemas: answers } = z.toJSONSchema(this.#answers, { ...options, io: 'output' });
    const entries = Object.entries({ ...requests, ...answers }).sort(([one], [other]) =>
      compareText(one, other),
    );
    return Object.fromEntries(entries.map(([name, schema]) => [name, trimSchema(schema as JsonObject)]));
  }
}

type SchemaRegistry = z.core.$ZodRegistry<{ id: string }>;

function refer(registry: SchemaRegistry, schema: z.ZodType, name: string): JsonObject {
  const id = registry.get(schema)?.id ?? name;
  registry.add(schema, { id });
  return { $ref: toReference(id) };
}

function toReference(name: string): string {
  return `#/components/schemas/${name}`;
}

/** A schema without what says where it stands, which the document says. */
function trimSchema({ $schema: _schema, $id: _id, ...schema }: JsonObject): JsonObject {
  return schema;
}

function toOperation(route: ApiRoute, names: SchemaNames): JsonObject {
  const { operationId, tag, summary, description, request } = route;
  const parameters = listParameters(route);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters: parameters.map(nameParameter) }),
    ...(request !== undefined && { requestBody: toRequestBody(route, request, names) }),
    responses: toResponses(route, names),
  };
}

/** Its own, and the headers that it listens to. */
function listParameters(route: ApiRoute): readonly ApiParameter[] {
  const { parameters = [], isCached } = route;
  return [
    ...parameters,
    ...(isCached === true ? [cacheControlParameter] : []),
    ...(isTagged(route) ? [ifNoneMatchParameter] : []),
  ];
}

/** Headers that many routes listen to. */
const sharedParameters: readonly ApiParameter[] = [
  ifMatchParameter,
  clientRequestId,
  dryRun,
  ...callerParameters,
  applicationParameter,
  regionParameter,
  accountParameter,
  cloudProviderParameter,
  clusterParameter,
  cacheControlParameter,
  ifNoneMatchParameter,
];

/** Each of them stands once in the document: it is a third of what a small route is described by. */
function nameParameter(parameter: ApiParameter): JsonObject {
  if (!sharedParameters.includes(parameter)) return toParameter(parameter);
  return { $ref: `#/components/parameters/${parameter.name}` };
}

/** Whether its answers have an `ETag`. */
function isTagged({ isCached, isTagged }: ApiRoute): boolean {
  return isCached === true || isTagged === true;
}

function toParameter({ name, description, schema, example, ...parameter }: ApiParameter): JsonObject {
  return {
    name,
    in: parameter.in,
    description,
    required: parameter.in === 'path',
    schema: trimSchema(z.toJSONSchema(schema, { io: 'input' }) as JsonObject),
    example,
  };
}

function toRequestBody({ operationId }: ApiRoute, request: ApiRequestBody, names: SchemaNames): JsonObject {
  const { description, required, schema, examples } = request;
  const reference = names.nameRequest(schema, `${capitalize(operationId)}Request`);
  return { description, required, content: toJsonContent(reference, examples) };
}

function toResponses(route: ApiRoute, names: SchemaNames): JsonObject {
  const statuses = [
    ...commonErrors,
    ...(route.request === undefined ? [] : bodyErrors),
    ...(route.errors ?? []),
  ];
  const errors = statuses.sort().map((status) => [status, toErrorReference(route, status)] as const);
  return {
    [route.answerStatus ?? 200]: toAnswer(route, route.answer, names),
    ...(route.browsersAreSentTo && {
      303: { description: `A browser is sent to \`${route.browsersAreSentTo}\`.` },
    }),
    ...(isTagged(route) && { 304: { $ref: '#/components/responses/NotModified' } }),
    ...Object.fromEntries(errors),
  };
}

function toErrorReference({ hasPlainErrors }: ApiRoute, status: ApiErrorStatus): JsonObject {
  const { name } = hasPlainErrors ? plainError : apiErrors[status];
  return { $ref: `#/components/responses/${name}` };
}

function toAnswer(route: ApiRoute, answer: ApiAnswer, names: SchemaNames): JsonObject {
  const { operationId, isCached } = route;
  const { description } = answer;
  if (route.answerStatus === 204) return { description };
  if ('bytes' in answer) {
    const { example, contentType = 'application/octet-stream' } = answer;
    return { description, content: { [contentType]: { example } } };
  }
  const reference = names.nameAnswer(answer.schema, `${capitalize(operationId)}Answer`);
  const content = toJsonContent(reference, answer.examples);
  const headers = { ...(isCached && freshnessReferences), ...(isTagged(route) && tagReferences) };
  return { description, ...(Object.keys(headers).length > 0 && { headers }), content };
}

function toJsonContent(schema: JsonObject, examples: ApiExamples): JsonObject {
  return { 'application/json': { schema, examples } };
}

function capitalize(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
