import * as z from 'zod';
import type { Answer } from './answer.ts';

const text = z.string();

/** A Job with its pods. */
export const jobSchema = z
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

/** Properties in a log. */
export const propertiesSchema = z
  .record(z.string(), z.unknown())
  .describe('Properties by name. Empty where there are none, or where there is no such log.');

/** Text that one container of a pod wrote. */
const partSchema = z.strictObject({ name: z.string(), output: z.string() });

/** What the containers of a pod wrote. */
export const consoleSchema = z
  .strictObject({
    output: z.union([z.array(partSchema), z.string()]),
  })
  .describe('What each container wrote, init containers first; one text where instances have no parts.');

/** A Job with its pods. */
export type JobView = Answer<typeof jobSchema>;

/** What each container of a pod wrote, init containers first. */
export type ConsoleOutputView = Answer<typeof consoleSchema>;

/** Text that one container of a pod wrote. It is named `Error` where there is no pod. */
export type ConsoleOutput = Answer<typeof partSchema>;
