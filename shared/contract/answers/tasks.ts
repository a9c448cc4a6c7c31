import * as z from 'zod';
import type { Answer } from './answer.ts';
import { artifactSchema } from './artifacts.ts';
import { kubernetesObjectSchema } from './manifests.ts';

const namesByLocation = z.record(z.string(), z.array(z.string()));

const manifestStubSchema = z
  .strictObject({
    kind: z.string().min(1).describe("Spinnaker's name of the kind: `deployment`."),
    metadata: z.strictObject({ name: z.string().min(1), namespace: z.string() }),
  })
  .describe('What a patch answers of its object.');

/** What an operation did. */
export const operationResultSchema = z
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

const nameByNamespace = z.record(z.string(), z.string().min(1));

/** What an operation of an account of the Kubernetes V1 provider did. */
export const v1OperationResultSchema = z
  .strictObject({
    serverGroupNames: z
      .array(z.string().min(1))
      .optional()
      .describe('What it created, as `namespace:name`, of `createServerGroup` and `cloneServerGroup`.'),
    serverGroupNameByRegion: nameByNamespace.optional().describe('The same, by namespace.'),
    ancestorServerGroupNameByRegion: nameByNamespace
      .optional()
      .describe('The server group that came before, by namespace, where there is one.'),
    loadBalancers: z
      .record(z.string(), z.strictObject({ name: z.string().min(1) }))
      .optional()
      .describe('Of `upsertLoadBalancer`, by namespace.'),
    deployedNames: z.array(z.string().min(1)).optional().describe('Jobs, of `runJob` and `cloneJob`.'),
    deployedNamesByLocation: namesByLocation.optional().describe('The same, by namespace.'),
  })
  .describe('What an operation of an account of the Kubernetes V1 provider did.');

/** What an operation would change. */
export const dryRunResultSchema = z
  .strictObject({
    dryRun: z.strictObject({
      changes: z
        .array(
          z.strictObject({
            action: z.enum(['create', 'change', 'replace', 'delete', 'keep']),
            kind: z.string().min(1),
            namespace: z.string().describe('Empty for a cluster-scoped object.'),
            name: z.string(),
            untried: z.string().optional().describe('Why the API server could not say.'),
          }),
        )
        .max(200)
        .describe('In the order in which they would be written.'),
      count: z.int().min(0).describe('Of all changes.'),
    }),
  })
  .describe('What an operation would change, of a dry run.');

/** Why an operation failed. */
export const failureSchema = z
  .strictObject({
    type: z.literal('EXCEPTION'),
    operation: z.string().min(1).describe('Class name of the operation.'),
    message: z.string().min(1).describe('What Deck shows.'),
    cause: z.string(),
    details: z.array(z.strictObject({ message: z.string(), retryable: z.boolean() })).optional(),
  })
  .describe('Why an operation failed.');

const historyLineSchema = z.strictObject({ phase: z.string().min(1), status: z.string() });

/** A task. */
export const taskSchema = z
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
      .describe(
        'Where it is: the last line of the history, or what it waits for before a worker takes it. Flags that Orca polls.',
      ),
    history: z.array(historyLineSchema),
    resultObjects: z.array(
      z.union([operationResultSchema, v1OperationResultSchema, dryRunResultSchema, failureSchema]),
    ),
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

/** A task in a list. */
export const taskSummarySchema = z
  .strictObject({
    id: z.string().min(1),
    state: z.enum(['STARTED', 'COMPLETED', 'FAILED', 'FAILED_RETRYABLE']),
    status: z.string().describe('What it waits for, did last, or how it ended.'),
    account: z.string().describe('The account of its first operation.'),
    accounts: z.array(z.string()),
    applications: z.array(z.string()).describe("The caller's `X-SPINNAKER-APPLICATION` first."),
    user: z.string().describe('Empty when the caller gave none.'),
    operations: z.array(z.string()),
    objects: z.array(z.string()).describe('Full names, as far as the request shows them: `deployment web`.'),
    startTimeMs: z.int().min(0),
    endTimeMs: z.int().min(0).optional().describe('Missing while it is open.'),
    durationMs: z.int().min(0).describe('Until its end, or until now.'),
    failure: z.string().optional().describe('Message of the first operation that failed.'),
  })
  .describe('A task in a list; the first 20 operations, applications and objects of each.');

/** A page of the list of tasks. */
export const taskPageSchema = z.strictObject({
  tasks: z.array(taskSummarySchema),
  cursor: z.string().optional().describe('For the next page. Missing at the end.'),
});

/** How many tasks were sent for. */
export const redriveSchema = z.strictObject({
  sent: z.int().min(0).describe('Messages sent for open tasks.'),
  failed: z.int().min(0).describe('Tasks that could not be looked at, or sent for; the log says why.'),
  isComplete: z.boolean().describe('Whether all open tasks were looked at in time.'),
});

/** A task in a list. */
export type TaskSummaryView = Answer<typeof taskSummarySchema>;

/** A page of the list of tasks. */
export type TaskPageView = Answer<typeof taskPageSchema>;

/** How many tasks were sent for. */
export type RedriveView = Answer<typeof redriveSchema>;

/** Where to poll a task. */
export const taskReferenceSchema = z
  .strictObject({ id: z.string().min(1), resourceUri: z.string().regex(/^\/task\/./) })
  .describe('Where to poll a task.');

/** What an operation did. */
export type OperationResultView = Answer<typeof operationResultSchema>;

/** Why an operation failed. */
export type OperationFailureView = Answer<typeof failureSchema>;

/** A task, as `GET /task/{id}` shows it. */
export type TaskView = Answer<typeof taskSchema>;

/** Where to poll a task. */
export type TaskReferenceView = Answer<typeof taskReferenceSchema>;

/** The host that ran a task last. */
export const taskOwnerSchema = z.strictObject({
  name: z.string().describe('Empty when nobody ran it yet.'),
});

/** The host that ran a task last. */
export type TaskOwnerView = Answer<typeof taskOwnerSchema>;
