import * as z from 'zod';
import { apiVersion } from '../core/api-version.ts';
import type { JsonObject } from '../core/json.ts';
import { compareText } from '../core/text-order.ts';
import type {
  ApiAnswer,
  ApiExamples,
  ApiParameter,
  ApiRequestBody,
  ApiRoute,
  DescribedOperation,
} from './api-route.ts';
import { type ApiTable, createApiTable } from './api-table.ts';
import { type ApiErrorStatus, apiErrors, bodyErrors, commonErrors } from './errors.ts';
import { cacheControlParameter } from './parameters.ts';

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

/**
 * Makes the API's document from the tables in `shared/contract/`.
 *
 * @param operations those of all providers, whose descriptions become schemas of requests.
 */
export function createOpenApiDocument(operations: readonly DescribedOperation[]): OpenApiDocument {
  const table = createApiTable(operations);
  const names = new SchemaNames(table);
  const paths: { [path: string]: { [method: string]: JsonObject } } = {};
  for (const [key, route] of Object.entries(table.routes)) {
    const [method = '', path = ''] = key.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: toOperation(route, names) };
  }
  const responses = Object.fromEntries(
    Object.entries(apiErrors).map(([status, { name, description, schema, examples }]) => [
      name,
      {
        description,
        ...(status === '503' && { headers: retryReferences }),
        content: toJsonContent(names.nameAnswer(schema, `${name}Error`), examples),
      },
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
      responses,
      headers: { ...freshnessHeaders, ...retryHeaders },
    },
  };
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

/** Each of them stands once in the document. */
const freshnessReferences = Object.fromEntries(
  Object.keys(freshnessHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

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
  const parameters =
    route.isCached === true ? [...(route.parameters ?? []), cacheControlParameter] : route.parameters;
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters: parameters.map(toParameter) }),
    ...(request !== undefined && { requestBody: toRequestBody(route, request, names) }),
    responses: toResponses(route, names),
  };
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
  const errors = statuses.sort().map((status) => [status, toErrorReference(status)] as const);
  return { 200: toAnswer(route, route.answer, names), ...Object.fromEntries(errors) };
}

function toErrorReference(status: ApiErrorStatus): JsonObject {
  return { $ref: `#/components/responses/${apiErrors[status].name}` };
}

function toAnswer({ operationId, isCached }: ApiRoute, answer: ApiAnswer, names: SchemaNames): JsonObject {
  const { description } = answer;
  if ('bytes' in answer) {
    return { description, content: { 'application/octet-stream': { example: answer.example } } };
  }
  const reference = names.nameAnswer(answer.schema, `${capitalize(operationId)}Answer`);
  const content = toJsonContent(reference, answer.examples);
  return { description, ...(isCached && { headers: freshnessReferences }), content };
}

function toJsonContent(schema: JsonObject, examples: ApiExamples): JsonObject {
  return { 'application/json': { schema, examples } };
}

function capitalize(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
