import * as z from 'zod';
import { toTooLargeMessage } from '#tasks/payload-limit.ts';
import { errorSchema, errorShape, plainErrorSchema } from './answers/errors.ts';
import type { ApiExamples } from './api-route.ts';

/** An error that routes answer. */
export interface ApiError {
  /** Name in the document: `NotFound`. */
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly examples: ApiExamples;
}

/** Errors by status. */
export const apiErrors = {
  400: makeError(400, 'Bad Request', {
    description: 'The request is malformed or refers to what cannot be. Nothing was changed.',
    message: 'Validation Failed',
    errors: ['deployKubernetesManifest.deployKubernetesManifest.account.empty'],
  }),
  401: makeError(401, 'Unauthorized', {
    description: 'The proof of who calls, or the shared secret of this installation, is missing or wrong.',
    message: 'The Authorization header must be Bearer and the shared secret',
  }),
  403: makeError(403, 'Forbidden', {
    description:
      'The caller lacks a right, the front door does not admit him, or the URL of an artifact is not allowed.',
    message: 'Access denied to account prod - required authorization: READ',
  }),
  404: makeError(404, 'Not Found', {
    description: 'What was asked for does not exist.',
    message: 'Manifest (account: prod, location: web, name: deployment frontend) not found',
  }),
  405: makeError(405, 'Method Not Allowed', {
    description: 'The path exists, but not for this method.',
    message: "Request method 'POST' is not supported (supported: GET)",
  }),
  409: makeError(409, 'Conflict', {
    description: 'What is to be made is there already. Nothing was changed.',
    message: 'provider already exists',
  }),
  412: makeError(412, 'Precondition Failed', {
    description: 'The thing is not any more what `If-Match` names. Nothing was changed.',
    message: 'The account prod has revision 3',
  }),
  413: makeError(413, 'Payload Too Large', {
    description: 'The request exceeds the 6 MB that AWS Lambda accepts.',
    message: toTooLargeMessage('its event of 7000000 bytes exceeds'),
  }),
  429: makeError(429, 'Too Many Requests', {
    description: "The caller's quota at the front door is spent. A mere throttle answers 503.",
    message: 'Limit Exceeded',
  }),
  500: makeError(500, 'Internal Server Error', {
    description:
      'A defect, a function that is configured wrong, or a failure of a cluster or artifact source that a repeat will not mend.',
    message: 'Internal error; the log has it',
  }),
  503: makeError(503, 'Service Unavailable', {
    description:
      'Something behind the API is away for the moment, throttles or hangs, or there is too much at once: try again after ' +
      '`Retry-After`. Nothing was half done.',
    message: 'A store is away for the moment; try again',
  }),
  504: makeError(504, 'Gateway Timeout', {
    description: "The function's time ended before a cluster or a host answered.",
    message: 'The function ran out of time before what it waited for answered',
  }),
} as const;

/** Any error of a route that has go-clouddriver's form. */
export const plainError: ApiError = {
  name: 'PlainError',
  description:
    "What is wrong, in go-clouddriver's form; what the front door answers itself has Clouddriver's.",
  schema: z.union([plainErrorSchema, errorSchema]),
  examples: { error: { summary: 'An error', value: { error: 'provider already exists' } } },
};

/** A status that an error has. */
export type ApiErrorStatus = keyof typeof apiErrors;

/** Statuses that any route may answer: the front door makes most of them. */
export const commonErrors: readonly ApiErrorStatus[] = [400, 401, 403, 429, 500, 503, 504];

/** Statuses that routes with a body may answer besides. */
export const bodyErrors: readonly ApiErrorStatus[] = [413];

function makeError(
  status: number,
  reason: string,
  text: { description: string; message: string; errors?: string[] },
): ApiError {
  const { description, message, errors } = text;
  const timestamp = '2026-11-21T06:15:35.252+00:00';
  return {
    name: reason.replaceAll(' ', ''),
    description,
    schema: z.strictObject({ ...errorShape, status: z.literal(status), error: z.literal(reason) }),
    examples: {
      error: {
        summary: reason,
        value: { timestamp, status, error: reason, message, ...(errors && { errors }) },
      },
    },
  };
}
