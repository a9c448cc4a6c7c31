import * as z from 'zod';
import { consoleSchema, jobSchema, propertiesSchema } from './answers/jobs.ts';
import { v1JobSchema } from './answers/kubernetes-v1.ts';
import { type ApiRoute, type ApiRoutes, groupRoutes } from './api-route.ts';
import { accountParameter, pathParameter } from './parameters.ts';

/** Named schemas of the routes of jobs. */
export const jobSchemas = {
  Job: jobSchema,
  LogProperties: propertiesSchema,
  ConsoleOutput: consoleSchema,
  V1Job: v1JobSchema,
};

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
  parameters: jobParameters,
  answer: {
    description: 'The Job.',
    schema: z.union([jobSchema, v1JobSchema]),
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
export const jobRoutes: ApiRoutes = groupRoutes('jobs', {
  'GET /applications/{application}/jobs/{account}/{location}/{id}': {
    ...jobRoute,
    operationId: 'getJob',
    summary: 'A live Job with its pods; `{id}` is its full name',
  },
  'POST /applications/{application}/jobs/{account}/{location}/{id}': {
    ...jobRoute,
    operationId: 'getJobDetails',
    summary: 'The same, as Gate asks for it',
    description: 'A body is ignored.',
  },
  'DELETE /applications/{application}/jobs/{account}/{location}/{id}': {
    operationId: 'cancelJob',
    summary: 'Deletes a Job and its pods',
    description:
      'It does not wait for the end of the pods. Orca sends it when a stage that runs a Job is cancelled; a body is ignored.',
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
    summary: "Properties in the log of a Job's container, which `{fileName}` names",
    description:
      'Each line with `SPINNAKER_PROPERTY_key=value` gives one, its key in lower case; each line that begins with ' +
      '`SPINNAKER_CONFIG_JSON=` the members of a JSON object. Of several pods it is one that succeeded, else the newest.',
    parameters: [...jobParameters, containerParameter],
    answer: fileAnswer,
    errors: [404],
  },
  'GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}': {
    operationId: 'getPodFile',
    summary: "Properties in the log of a pod's container, which `{fileName}` names",
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
    summary: "What a pod's containers wrote; `{id}` is the pod's full name",
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
});
