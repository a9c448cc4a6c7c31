import * as z from 'zod';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { artifactSchema } from './artifacts.ts';
import { kubernetesObjectSchema } from './manifests.ts';
import { kubernetesParameter, pathParameter } from './parameters.ts';

const namesByLocation = z.record(z.string(), z.array(z.string()));

const manifestStubSchema = z
  .strictObject({
    kind: z.string().min(1).describe("Spinnaker's name of the kind: `deployment`."),
    metadata: z.strictObject({ name: z.string().min(1), namespace: z.string() }),
  })
  .describe('What a patch answers of its object.');

const operationResultSchema = z
  .strictObject({
    manifestNamesByNamespace: namesByLocation.describe(
      'Full names by namespace; those of cluster-scoped objects stand under the empty one.',
    ),
    manifests: z
      .array(z.union([kubernetesObjectSchema, manifestStubSchema]))
      .describe('The objects, without secrets; of `patchManifest` a stub.'),
    createdArtifacts: z.array(artifactSchema),
    boundArtifacts: z.array(artifactSchema),
    deployedNamesByLocation: namesByLocation.optional().describe('Of `runJob` alone.'),
  })
  .describe('What an operation did: Orca promotes its members to outputs of the stage.');

const failureSchema = z
  .strictObject({
    type: z.literal('EXCEPTION'),
    operation: z.string().min(1).describe('Class name of the operation.'),
    message: z.string().min(1).describe('What Deck shows.'),
    cause: z.string(),
    details: z.array(z.strictObject({ message: z.string(), retryable: z.boolean() })).optional(),
  })
  .describe('Why an operation failed.');

const historyLineSchema = z.strictObject({ phase: z.string().min(1), status: z.string() });

const taskSchema = z
  .strictObject({
    id: z.string().min(1),
    status: z
      .strictObject({
        complete: z.boolean(),
        completed: z.boolean().describe('It has ended, well or not.'),
        failed: z.boolean(),
        retryable: z.boolean(),
        phase: z.string(),
        status: z.string(),
      })
      .describe('The last line of the history, and the flags that Orca polls.'),
    history: z.array(historyLineSchema),
    resultObjects: z.array(z.union([operationResultSchema, failureSchema])),
    outputs: z.array(
      z.strictObject({
        manifest: z.string(),
        phase: z.string(),
        stdOut: z.string(),
        stdError: z.string(),
      }),
    ),
    ownerId: z.string().describe('Who ran it last, as `<random>@<host>`; empty when nobody did yet.'),
    requestId: z.string().describe('The `clientRequestId`; empty when there was none.'),
    retryable: z.boolean(),
    sagaIds: z.array(z.unknown()).max(0),
    startTimeMs: z.int().min(0).describe('When it was accepted, in milliseconds since 1970.'),
  })
  .describe('A task.');

const taskReferenceSchema = z
  .strictObject({ id: z.string().min(1), resourceUri: z.string().regex(/^\/task\/./) })
  .describe('Where to poll a task.');

/** Named schemas of the task routes. */
export const taskSchemas = {
  OperationFailure: failureSchema,
  OperationResult: operationResultSchema,
  Task: taskSchema,
  TaskReference: taskReferenceSchema,
};

const idExample = '01kak4rwm6h1zq5t9d0x8b2ceg';

const runningExample = {
  id: idExample,
  status: {
    complete: false,
    completed: false,
    failed: false,
    retryable: false,
    phase: 'ORCHESTRATION',
    status: 'Initializing Orchestration Task',
  },
  history: [{ phase: 'ORCHESTRATION', status: 'Initializing Orchestration Task' }],
  resultObjects: [],
  outputs: [],
  ownerId: '',
  requestId: '3f5a',
  retryable: false,
  sagaIds: [],
  startTimeMs: 1_795_242_935_252,
};

const failedExample = {
  ...runningExample,
  ownerId: 'q2h7@worker',
  status: {
    complete: true,
    completed: true,
    failed: true,
    retryable: false,
    phase: 'ORCHESTRATION',
    status: 'Orchestration failed: KubernetesScaleManifestOperation | FailedOperationError: [Not found]',
  },
  resultObjects: [
    {
      type: 'EXCEPTION',
      operation: 'KubernetesScaleManifestOperation',
      message: 'Not found',
      cause: 'Not found',
      details: [{ message: 'Not found', retryable: false }],
    },
  ],
};

const completedExample = {
  ...runningExample,
  ownerId: 'q2h7@worker',
  status: {
    complete: true,
    completed: true,
    failed: false,
    retryable: false,
    phase: 'ORCHESTRATION',
    status: 'Orchestration completed.',
  },
  resultObjects: [
    {
      manifestNamesByNamespace: { web: ['configMap settings-v000'] },
      manifests: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'settings-v000', namespace: 'web' },
          data: { color: 'blue' },
        },
      ],
      createdArtifacts: [
        {
          type: 'kubernetes/configMap',
          customKind: false,
          name: 'settings',
          version: 'v000',
          location: 'web',
          reference: 'settings-v000',
          metadata: { account: 'prod' },
        },
      ],
      boundArtifacts: [],
    },
  ],
};

/** The answer of each route that starts a task. */
export const taskReferenceAnswer: ApiRoute['answer'] = {
  description: 'The task was stored: it will be run, whatever happens to the functions.',
  schema: taskReferenceSchema,
  examples: {
    task: { summary: 'A task', value: { id: idExample, resourceUri: `/task/${idExample}` } },
  },
};

const taskAnswer: ApiRoute['answer'] = {
  description: 'The task.',
  schema: taskSchema,
  examples: {
    completed: { summary: 'Completed', value: completedExample },
    failed: { summary: 'Failed', value: failedExample },
  },
};

const idParameter = pathParameter('id', { description: 'Id of the task.', example: idExample });

/** Routes of tasks; that which starts one again with other operations stands with the operations. */
export const taskRoutes: ApiRoutes = {
  'GET /task': {
    operationId: 'listTasks',
    tag: 'tasks',
    summary: 'The running tasks, oldest first, at most 500',
    answer: {
      description: 'The tasks.',
      schema: z.array(taskSchema),
      examples: { running: { summary: 'One that waits for a worker', value: [runningExample] } },
    },
  },
  'GET /task/{id}': {
    operationId: 'getTask',
    tag: 'tasks',
    summary: 'A task with its history and results',
    description: 'Orca polls it every five seconds. A task is kept for seven days after its last change.',
    parameters: [idParameter],
    answer: taskAnswer,
    errors: [404],
  },
  'POST /task/{id}': {
    operationId: 'resumeTask',
    tag: 'tasks',
    summary: 'Runs a failed, retryable task again with its own operations',
    description: "Spinnaker's `POST /task/{id}:resume`: the suffix is part of the variable, and demanded.",
    parameters: [
      pathParameter('id', {
        description: 'Id of the task, then `:resume`.',
        schema: z.string().regex(/.:resume$/),
        example: `${idExample}:resume`,
      }),
    ],
    answer: taskReferenceAnswer,
    errors: [404, 405],
  },
  'PATCH /{cloudProvider}/task/{id}': {
    operationId: 'updateTask',
    tag: 'tasks',
    summary: 'Fails a running task, retryable or not, and stops its worker',
    description: 'A task that has ended stays as it is.',
    parameters: [kubernetesParameter, idParameter],
    request: {
      description: 'Whether the task may be started again.',
      schema: z.object({ retry: z.union([z.boolean(), z.enum(['true', 'false']), z.null()]).optional() }),
      required: true,
      examples: { retry: { summary: 'It may', value: { retry: true } } },
    },
    answer: taskAnswer,
    errors: [404],
  },
  'GET /{cloudProvider}/task/{id}/owner': {
    operationId: 'getTaskOwner',
    tag: 'tasks',
    summary: 'The host that ran a task last',
    parameters: [kubernetesParameter, idParameter],
    answer: {
      description: 'The host.',
      schema: z.strictObject({ name: z.string().describe('Empty when nobody ran it yet.') }),
      examples: { host: { summary: 'A host', value: { name: 'worker' } } },
    },
    errors: [404],
  },
};
