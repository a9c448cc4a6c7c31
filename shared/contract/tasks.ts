import * as z from 'zod';
import { waitSecondsMax } from '#tasks/get-task.ts';
import {
  failureSchema,
  operationResultSchema,
  redriveSchema,
  taskOwnerSchema,
  taskPageSchema,
  taskReferenceSchema,
  taskSchema,
  taskSummarySchema,
  v1OperationResultSchema,
} from './answers/tasks.ts';
import { type ApiRoute, type ApiRoutes, groupRoutes } from './api-route.ts';
import { kubernetesParameter, pathParameter, textParameter } from './parameters.ts';

/** Named schemas of the task routes. */
export const taskSchemas = {
  OperationFailure: failureSchema,
  OperationResult: operationResultSchema,
  KubernetesV1OperationResult: v1OperationResultSchema,
  Task: taskSchema,
  TaskPage: taskPageSchema,
  TaskReference: taskReferenceSchema,
  TaskSummary: taskSummarySchema,
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

const summaryExample = {
  id: idExample,
  state: 'STARTED',
  status:
    'Waiting for the cluster of account prod (since 2026-11-21T09:00:00Z, until 2026-11-21T09:05:00Z at most)',
  ...{ account: 'prod', accounts: ['prod'], user: 'ada@example.com', applications: ['shop'] },
  ...{ operations: ['deployManifest'], objects: ['deployment frontend'] },
  ...{ startTimeMs: 1_795_242_935_252, durationMs: 42_000 },
};

const filters: readonly (readonly [name: string, description: string, example: string])[] = [
  ['account', 'Only tasks with an operation of this account.', 'prod'],
  ['application', 'Only tasks of this application.', 'shop'],
  ['user', 'Only tasks of this user.', 'ada@example.com'],
  ['operation', 'Only tasks with an operation of this name.', 'deployManifest'],
  ['cursor', 'That of the page before.', `001795242935252#${idExample}#7k2v`],
];

const listParameters: ApiRoute['parameters'] = [
  {
    ...{ in: 'query', name: 'state', description: 'Only tasks in this state.', example: 'FAILED' },
    schema: taskSummarySchema.shape.state,
  },
  {
    ...{ in: 'query', name: 'since', example: '2026-11-21T09:00:00Z' },
    description: 'Only tasks accepted then or later: an ISO 8601 time, or milliseconds since 1970.',
    schema: z.union([z.iso.datetime({ offset: true }), z.int().min(0)]),
  },
  {
    ...{ in: 'query', name: 'limit', description: 'Tasks of a page. Default 50.', example: 50 },
    schema: z.int().min(1).max(200),
  },
  ...filters.map(([name, description, example]) => textParameter(name, { description, example })),
];

/** Routes of tasks; that which starts one again with other operations stands with the operations. */
export const taskRoutes: ApiRoutes = groupRoutes('tasks', {
  'GET /task': {
    operationId: 'listTasks',
    summary: 'The running tasks of accounts that the caller may read, oldest first; of the first 500',
    answer: {
      description: 'The tasks.',
      schema: z.array(taskSchema),
      examples: { running: { summary: 'One that waits for a worker', value: [runningExample] } },
    },
  },
  'GET /tasks': {
    operationId: 'findTasks',
    summary: 'The tasks of the last seven days, newest first, of accounts that the caller may read',
    description:
      'A page takes 2,000 tasks into account: filters that few match may answer none, and a cursor. A task that was started again is listed by that time.',
    parameters: listParameters,
    answer: {
      description: 'A page.',
      schema: taskPageSchema,
      examples: { waiting: { summary: 'One that waits', value: { tasks: [summaryExample] } } },
    },
  },
  'POST /tasks/redrive': {
    operationId: 'redriveTasks',
    summary:
      'Sends for all open tasks now, those of dead letters too, instead of within a minute; for managers of accounts',
    answer: {
      description: 'What was sent.',
      schema: redriveSchema,
      examples: { sent: { summary: 'All', value: { sent: 3, failed: 0, isComplete: true } } },
    },
  },
  'GET /task/{id}': {
    operationId: 'getTask',
    summary: 'A task with its history and results',
    description: 'Orca polls it every five seconds. A task is kept for seven days after its last change.',
    parameters: [
      idParameter,
      {
        ...{ in: 'query', name: 'waitSeconds', example: 15, schema: z.int().min(0).max(waitSecondsMax) },
        description:
          'Answers once the task has ended, after these seconds at most. A function in AWS waits a little less than 20.',
      },
    ],
    answer: taskAnswer,
    errors: [404],
  },
  'POST /task/{id}': {
    operationId: 'resumeTask',
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
  'DELETE /task/{id}': {
    operationId: 'cancelTask',
    summary: 'Cancels a task: it fails, not retryable. One under way stops before its next step',
    description: 'No step is broken off. A task that has ended stays as it is.',
    parameters: [idParameter],
    answer: taskAnswer,
    errors: [404, 409],
  },
  'PATCH /{cloudProvider}/task/{id}': {
    operationId: 'updateTask',
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
    summary: 'The host that ran a task last',
    parameters: [kubernetesParameter, idParameter],
    answer: {
      description: 'The host.',
      schema: taskOwnerSchema,
      examples: { host: { summary: 'A host', value: { name: 'worker' } } },
    },
    errors: [404],
  },
});
