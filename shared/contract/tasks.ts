import * as z from 'zod';
import {
  failureSchema,
  operationResultSchema,
  taskOwnerSchema,
  taskReferenceSchema,
  taskSchema,
  v1OperationResultSchema,
} from './answers/tasks.ts';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { kubernetesParameter, pathParameter } from './parameters.ts';

/** Named schemas of the task routes. */
export const taskSchemas = {
  OperationFailure: failureSchema,
  OperationResult: operationResultSchema,
  KubernetesV1OperationResult: v1OperationResultSchema,
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
    summary: 'The running tasks of accounts that the caller may read, oldest first; of the first 500',
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
    summary:
      "Spinnaker's `/task/{id}:resume`: runs a failed, retryable task again with its own operations. Without the suffix 405",
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
    summary: 'Fails a running task, with `{"retry": true}` a retryable one, and stops its worker',
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
      schema: taskOwnerSchema,
      examples: { host: { summary: 'A host', value: { name: 'worker' } } },
    },
    errors: [404],
  },
};
