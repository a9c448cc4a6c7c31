import * as z from 'zod';
import type { JsonValue } from '#core/json.ts';
import { stringField } from '#settings/coerce.ts';
import { toAcceptedObject } from './accepted.ts';
import type {
  ApiExamples,
  ApiParameter,
  ApiRequestBody,
  ApiRoutes,
  DescribedOperation,
} from './api-route.ts';
import { cloudProviderParameter, kubernetesParameter, pathParameter } from './parameters.ts';
import { taskReferenceAnswer } from './tasks.ts';

/** What each description has besides its own fields. */
const accountShape = {
  account: stringField().describe('The account to act on.'),
  credentials: stringField().describe('The account, where `account` is empty: older pipelines send it.'),
};

const namesProvider = z.object({ cloudProvider: z.string().min(1).describe('Provider id.') });

/** Tells repetitions of a request from others. */
export const clientRequestId: ApiParameter = {
  in: 'query',
  name: 'clientRequestId',
  description:
    'The same id answers the same task, whatever the body, and nothing is executed twice. For operations of other accounts than the task it is 400.',
  schema: z.string().max(1_024),
  example: '3f5a',
};

/** Shows what operations would change. */
export const dryRun: ApiParameter = {
  in: 'query',
  name: 'dryRun',
  description:
    'True to change nothing: each write is a dry run of the API server. The task has the difference of each object in `outputs`, and a list of them in its result. Of `deployManifest`, `patchManifest`, `scaleManifest` and `deleteManifest`; of others it is 400.',
  schema: z.boolean(),
  example: true,
};

/** Headers of who starts operations. */
export const callerParameters: readonly ApiParameter[] = [
  {
    in: 'header',
    name: 'X-SPINNAKER-USER',
    description:
      'Who asks. Trusted as it is, unless the installation asks for proof. Several such headers count as none.',
    schema: z.string(),
    example: 'ada@example.com',
  },
  {
    in: 'header',
    name: 'X-SPINNAKER-ACCOUNTS',
    description:
      'Accounts that the user may use, with commas between: counts for accounts restricted to groups, where Fiat is not asked. Several such headers count as none.',
    schema: z.string(),
    example: 'prod,staging',
  },
];

const scaleExample = {
  account: 'prod',
  cloudProvider: 'kubernetes',
  manifestName: 'deployment frontend',
  location: 'web',
  replicas: 3,
};

const deployExample = {
  account: 'prod',
  cloudProvider: 'kubernetes',
  moniker: { app: 'shop' },
  manifests: [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'web' },
      data: { color: 'blue' },
    },
  ],
};

/** Schemas of requests for operations, and the routes that take them. @param operations those of all providers. */
export function createOperationRoutes(operations: readonly DescribedOperation[]): {
  readonly schemas: { readonly [name: string]: z.ZodType };
  readonly routes: ApiRoutes;
} {
  const described = operations.map(({ name, title = toTitle(name), schema }) => ({
    name,
    title,
    ...toDescriptionSchema(schema),
  }));
  const descriptions = [...Map.groupBy(described, ({ name }) => name)].map(([name, ones]) => ({
    name,
    schema: toUnion(ones.map(({ schema }) => schema)),
  }));
  const bodies = createBodies(descriptions);
  return {
    schemas: {
      ...Object.assign({}, ...described.map(({ parts }) => parts)),
      ...Object.fromEntries(described.map(({ title, schema }) => [title, schema])),
      ...bodies,
      ProviderChoice: namesProvider,
    },
    routes: {
      ...toListRoutes(bodies),
      ...toSingleRoutes(
        bodies,
        descriptions.map(({ name }) => name),
      ),
    },
  };
}

/** The four bodies: a list or one, with the provider in the path or in the description. */
function createBodies(descriptions: readonly { readonly name: string; readonly schema: z.ZodType }[]) {
  const list = 'Operations, each an object with one key, its name. They run in order, as one task.';
  const one = 'The description of the operation that the path names.';
  const named = descriptions.map(({ name, schema }) => ({
    name,
    schema: z.intersection(schema, namesProvider),
  }));
  return {
    Operations: toListBody(descriptions).describe(list),
    OperationDescription: z.union(descriptions.map(({ schema }) => schema)).describe(one),
    ProviderLessOperations: toListBody(named).describe(`${list} Each description names its provider.`),
    ProviderLessOperationDescription: z
      .union(named.map(({ schema }) => schema))
      .describe(`${one} It names its provider.`),
  };
}

function toListBody(
  descriptions: readonly { readonly name: string; readonly schema: z.ZodType }[],
): z.ZodType {
  return z.array(z.xor(descriptions.map(({ name, schema }) => z.strictObject({ [name]: schema }))));
}

type Bodies = ReturnType<typeof createBodies>;

function toListRoutes({ Operations, ProviderLessOperations }: Bodies): ApiRoutes {
  const examples = {
    deploy: { summary: 'A deploy', value: [{ deployManifest: deployExample }] },
    scale: { summary: 'A change of scale', value: [{ scaleManifest: scaleExample }] },
  };
  const request = toRequest(Operations, examples);
  return {
    'POST /{cloudProvider}/ops': {
      operationId: 'startOperations',
      tag: 'operations',
      summary: 'Accepts a list of operations as one task',
      description:
        'Everything is parsed, validated and authorized before anything is stored; a refusal is 400 with all violations ' +
        'in `errors`. Orca sends its whole stage context as a description, so unknown fields are ignored.',
      parameters: [cloudProviderParameter, clientRequestId, dryRun, ...callerParameters],
      request,
      answer: taskReferenceAnswer,
    },
    'POST /ops': {
      operationId: 'startProviderLessOperations',
      tag: 'operations',
      summary: 'The same, where each description names its `cloudProvider` (deprecated in Clouddriver)',
      parameters: [clientRequestId, dryRun, ...callerParameters],
      request: toRequest(ProviderLessOperations, examples),
      answer: taskReferenceAnswer,
    },
    'POST /{cloudProvider}/task/{id}/restart': {
      operationId: 'restartTask',
      tag: 'tasks',
      summary:
        'Runs a failed, retryable task again with the operations in the body, which are checked as those of a new task',
      parameters: [
        kubernetesParameter,
        pathParameter('id', { description: 'Id of the task.', example: '01kak4rwm6h1zq5t9d0x8b2ceg' }),
      ],
      request,
      answer: taskReferenceAnswer,
      errors: [404],
    },
  };
}

function toSingleRoutes(bodies: Bodies, names: readonly string[]): ApiRoutes {
  const operation = pathParameter('operation', {
    description: 'Name of the operation.',
    schema: z.enum(names),
    example: 'scaleManifest',
  });
  const examples = { scale: { summary: 'A change of scale', value: scaleExample } };
  return {
    'POST /{cloudProvider}/ops/{operation}': {
      operationId: 'startOperation',
      tag: 'operations',
      summary: 'Accepts one operation as a task; the body is its description',
      parameters: [cloudProviderParameter, operation, clientRequestId, dryRun, ...callerParameters],
      request: toRequest(bodies.OperationDescription, examples),
      answer: taskReferenceAnswer,
    },
    'POST /ops/{operation}': {
      operationId: 'startProviderLessOperation',
      tag: 'operations',
      summary: 'The same, where the description names its `cloudProvider` (deprecated in Clouddriver)',
      parameters: [operation, clientRequestId, dryRun, ...callerParameters],
      request: toRequest(bodies.ProviderLessOperationDescription, examples),
      answer: taskReferenceAnswer,
    },
  };
}

function toRequest(schema: z.ZodType, examples: ApiExamples): ApiRequestBody {
  return { description: 'What to do.', schema, required: true, examples };
}

function toTitle(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Description`;
}

/** Of operations of one name the account of a description tells which is meant. */
function toUnion(schemas: readonly z.ZodType[]): z.ZodType {
  const [first] = schemas;
  return first !== undefined && schemas.length === 1 ? first : z.union(schemas);
}

/** What a description's parser accepts, and the account, which all operations have. @returns with it the schemas it refers to, by name */
function toDescriptionSchema(schema: z.ZodType): {
  readonly schema: z.ZodType;
  readonly parts: { readonly [name: string]: z.ZodType };
} {
  const { properties: account = {} } = toAcceptedObject(z.object(accountShape));
  const { properties, $defs = {}, ...description } = toAcceptedObject(schema);
  return {
    schema: toUnknown({ ...description, properties: { ...account, ...properties } }),
    parts: Object.fromEntries(Object.entries($defs).map(([name, part]) => [name, toUnknown(part)])),
  };
}

/** A schema that the document shows as it is; what it refers to stands beside it there. */
function toUnknown(shown: JsonValue): z.ZodType {
  const text = JSON.stringify(shown).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { id: _, ...meta } = JSON.parse(text);
  return z.unknown().meta(meta);
}
