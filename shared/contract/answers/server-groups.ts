import * as z from 'zod';
import type { Answer } from './answer.ts';
import { instanceSchema, monikerSchema, providedShape, resourceShape } from './resources.ts';

/** The images that a server group runs. */
export const buildInfoSchema = z
  .strictObject({
    images: z
      .array(z.string())
      .describe('Each once. Of a V1 account `repository:tag`, without the registry.'),
    createdBy: z.string().optional().describe('Of a V1 account: the Deployment that makes its pods.'),
  })
  .describe('The images that its pods run.');

/** How many pods there are, by how they fare. */
export const instanceCountsSchema = z
  .strictObject({
    total: z.int().min(0),
    up: z.int().min(0),
    down: z.int().min(0),
    unknown: z.int().min(0),
    outOfService: z.int().min(0),
    starting: z.int().min(0),
  })
  .describe('Its pods, by how they fare.');

const empty = z.array(z.unknown()).max(0);

const coreShape = {
  ...providedShape,
  capacity: z.strictObject({
    desired: z.int().min(0).describe('`spec.replicas`; 0 where the kind has none.'),
    pinned: z.literal(false),
  }),
  instanceCounts: instanceCountsSchema,
  loadBalancers: z
    .array(z.string())
    .describe('Full names of the services it is behind, and of those its traffic annotation names.'),
  serverGroupManagers: z.array(
    z.strictObject({
      account: z.string().min(1),
      location: z.string().describe('Namespace.'),
      name: z.string().min(1).describe('The name alone, without the kind.'),
    }),
  ),
  buildInfo: buildInfoSchema,
  securityGroups: empty,
};

/** What a server group runs. */
export const imageSummarySchema = z
  .strictObject({ serverGroupName: z.string().min(1), buildInfo: buildInfoSchema })
  .describe('What a server group runs.');

/** What server groups run. */
export const imagesSummarySchema = z
  .strictObject({ summaries: z.array(imageSummarySchema) })
  .describe('What server groups run.');

/** What a target's summary is. */
export const summarySchema = z.union([imageSummarySchema, imagesSummarySchema]);

/** A server group with everything. */
export const serverGroupSchema = z
  .strictObject({
    ...resourceShape,
    ...coreShape,
    disabled: z.boolean().describe('It has a traffic annotation, and no service selects it.'),
    instances: z.array(instanceSchema),
    zones: empty,
    launchConfig: z.strictObject({}),
  })
  .describe('A ReplicaSet, StatefulSet, DaemonSet, Job or CronJob.');

/** A server group with everything, and what it belongs to. */
export const expandedServerGroupSchema = serverGroupSchema
  .extend({
    accountName: z.string().min(1).describe('The account again.'),
    cluster: z.string().optional(),
    application: z.string().optional(),
  })
  .describe('A server group with what it belongs to.');

const { healthState, health } = instanceSchema.shape;

/** A pod in a summary of a server group. */
export const instanceSummarySchema = z
  .strictObject({
    id: z.string().min(1).describe('The uid of the pod.'),
    name: z.string().min(1).describe('Full name.'),
    healthState,
    availabilityZone: z.string().describe('The namespace.'),
    health: z
      .array(health.element.pick({ type: true, state: true }))
      .describe('The pod, then its containers.'),
  })
  .describe('A pod, in short.');

/** A server group, in short. */
export const serverGroupSummarySchema = z
  .strictObject({
    ...coreShape,
    name: z.string().min(1).describe('Full name: `replicaSet web-v003`.'),
    account: z.string().min(1),
    region: z.string().describe('Namespace.'),
    cluster: z.string().optional(),
    isDisabled: z.boolean(),
    moniker: monikerSchema,
    createdTime: z.int().optional().describe('Epoch milliseconds.'),
    labels: z.record(z.string(), z.string()).optional().describe('Left out when there are none.'),
    instances: z.array(instanceSummarySchema),
  })
  .describe('A server group, in short.');

/** A Deployment with its ReplicaSets. */
export const serverGroupManagerSchema = z
  .strictObject({
    ...resourceShape,
    cloudProvider: providedShape.cloudProvider,
    serverGroups: z.array(
      z.strictObject({
        name: z.string().min(1).describe('Full name.'),
        account: z.string().min(1),
        namespace: z.string(),
        region: z.string(),
        moniker: monikerSchema,
      }),
    ),
  })
  .describe('A Deployment with its ReplicaSets.');

/** How many pods there are, by how they fare. */
export type InstanceCountsView = Answer<typeof instanceCountsSchema>;

/** What a target's summary is. */
export type TargetSummaryView = Answer<typeof summarySchema>;

/** A server group with all that is shown of it. */
export type ServerGroupView = Answer<typeof serverGroupSchema>;

/** A server group in the list with `expand=true`. */
export type ExpandedServerGroupView = Answer<typeof expandedServerGroupSchema>;

/** A pod, as summaries of server groups show it. */
export type InstanceSummaryView = Answer<typeof instanceSummarySchema>;

/** A server group in the list that Deck's clusters page loads. */
export type ServerGroupSummaryView = Answer<typeof serverGroupSummarySchema>;

/** A server group manager: a Deployment. Unlike other views it has no `type`. */
export type ServerGroupManagerView = Answer<typeof serverGroupManagerSchema>;
