import * as z from 'zod';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, pathParameter } from './parameters.ts';

const text = z.string();

const jobSchema = z
  .strictObject({
    name: z.string().min(1).describe('Name of the Job, without its kind.'),
    account: z.string().min(1),
    location: z.string().min(1).describe('Namespace.'),
    provider: z.literal('kubernetes'),
    createdTime: z.int().describe('Milliseconds since 1970.'),
    jobState: z.enum(['Running', 'Succeeded', 'Failed']),
    completionDetails: z.strictObject({ exitCode: text, signal: text, message: text, reason: text }),
    message: z.string().optional().describe("Kubernetes' words about a Job that failed."),
    reason: z
      .string()
      .optional()
      .describe("Kubernetes' reason of a failure, such as `BackoffLimitExceeded`."),
    failureDetails: z
      .string()
      .optional()
      .describe("What the first container that failed ended with, in Clouddriver's sentences."),
    mostRecentPodName: z.string().optional(),
    pods: z
      .array(
        z.strictObject({
          name: z.string().min(1),
          status: z
            .record(z.string(), z.unknown())
            .describe('As Kubernetes has it. Its numbers are written as they are there, not as doubles.'),
        }),
      )
      .describe('Oldest first. Empty with `kubernetes.jobs.detailed-pod-status: false`.'),
  })
  .describe('A Job with its pods.');

const propertiesSchema = z
  .record(z.string(), z.unknown())
  .describe('Properties by name. Empty where there are none, or where there is no such log.');

const consoleSchema = z
  .strictObject({
    output: z.array(z.strictObject({ name: z.string(), output: z.string() })),
  })
  .describe('What each container wrote, init containers first.');

/** Named schemas of the routes of jobs. */
export const jobSchemas = { Job: jobSchema, LogProperties: propertiesSchema, ConsoleOutput: consoleSchema };

const applicationParameter = pathParameter('application', {
  description: 'Application. The answer does not depend on it.',
  example: 'shop',
});

const jobParameters = [
  applicationParameter,
  accountParameter,
  pathParameter('location', { description: 'Namespace.', example: 'web' }),
  pathParameter('id', { description: 'Full name of the Job.', example: 'job smoke' }),
];

const containerParameter = pathParameter('fileName', {
  description: 'Name of the container whose log is read.',
  example: 'main',
});

const jobRoute = {
  tag: 'jobs',
  parameters: jobParameters,
  answer: {
    description: 'The Job.',
    schema: jobSchema,
    examples: {
      failed: {
        summary: 'A Job that failed',
        value: {
          name: 'smoke',
          account: 'prod',
          location: 'web',
          provider: 'kubernetes',
          createdTime: 1763712000000,
          jobState: 'Failed',
          completionDetails: {
            exitCode: '',
            signal: '',
            message: 'Job has reached the specified backoff limit',
            reason: 'BackoffLimitExceeded',
          },
          message: 'Job has reached the specified backoff limit',
          reason: 'BackoffLimitExceeded',
          failureDetails:
            "Pod: 'smoke-8fq2z' had errors.\n Container: 'main' exited with code: 1.\n Status: Error.",
          mostRecentPodName: 'smoke-8fq2z',
          pods: [{ name: 'smoke-8fq2z', status: { phase: 'Failed' } }],
        },
      },
    },
  },
  errors: [404],
} as const satisfies Partial<ApiRoute>;

const fileAnswer = {
  description: 'The properties.',
  schema: propertiesSchema,
  examples: {
    found: { summary: 'A property and a JSON text', value: { version: '1.2', tests: { run: 12 } } },
  },
};

/** Routes of Jobs, and of what pods write. */
export const jobRoutes: ApiRoutes = {
  'GET /applications/{application}/jobs/{account}/{location}/{id}': {
    ...jobRoute,
    operationId: 'getJob',
    summary: 'A live Job with its pods',
  },
  'POST /applications/{application}/jobs/{account}/{location}/{id}': {
    ...jobRoute,
    operationId: 'getJobDetails',
    summary: 'The same, as Gate asks for it',
    description: 'A body is ignored.',
  },
  'DELETE /applications/{application}/jobs/{account}/{location}/{id}': {
    operationId: 'cancelJob',
    tag: 'jobs',
    summary: 'Deletes a Job and its pods',
    description: 'It does not wait for the end of the pods.',
    parameters: jobParameters,
    answer: {
      description: 'Always the same.',
      schema: z.strictObject({}),
      examples: { done: { summary: 'The Job is deleted', value: {} } },
    },
    errors: [404],
  },
  'GET /applications/{application}/jobs/{account}/{location}/{id}/{fileName}': {
    operationId: 'getJobFile',
    tag: 'jobs',
    summary: "Properties in the log of a Job's container",
    description:
      'Each line with `SPINNAKER_PROPERTY_key=value` gives one, its key in lower case; each line that begins with ' +
      '`SPINNAKER_CONFIG_JSON=` the members of a JSON object. Of several pods it is one that succeeded, else the newest.',
    parameters: [...jobParameters, containerParameter],
    answer: fileAnswer,
    errors: [404],
  },
  'GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}': {
    operationId: 'getPodFile',
    tag: 'jobs',
    summary: "Properties in the log of a pod's container",
    parameters: [
      applicationParameter,
      accountParameter,
      pathParameter('location', { description: 'Namespace.', example: 'web' }),
      pathParameter('pod', { description: 'Name of the pod, without its kind.', example: 'smoke-8fq2z' }),
      containerParameter,
    ],
    answer: fileAnswer,
    errors: [404],
  },
  'GET /instances/{account}/{region}/{id}/console': {
    operationId: 'getConsoleOutput',
    tag: 'jobs',
    summary: "What a pod's containers wrote",
    description:
      'Where a log cannot be read the reason stands in its place; a pod that is gone gives one entry named `Error`.',
    parameters: [
      accountParameter,
      pathParameter('region', { description: 'Namespace.', example: 'web' }),
      pathParameter('id', { description: 'Full name of the pod.', example: 'pod smoke-8fq2z' }),
    ],
    answer: {
      description: 'The texts.',
      schema: consoleSchema,
      examples: {
        log: { summary: 'One container', value: { output: [{ name: 'main', output: 'hello\n' }] } },
      },
    },
    errors: [404],
  },
};
