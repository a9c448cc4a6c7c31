import * as z from 'zod';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, flagParameter, pathParameter, textParameter } from './parameters.ts';
import {
  applicationParameter,
  instanceExample,
  instanceSchema,
  monikerSchema,
  providedShape,
  regionParameter,
  resourceShape,
} from './resources.ts';

const buildInfoSchema = z
  .strictObject({ images: z.array(z.string()) })
  .describe('The images that its pods run, each once.');

const instanceCountsSchema = z
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

const imageSummarySchema = z
  .strictObject({ serverGroupName: z.string().min(1), buildInfo: buildInfoSchema })
  .describe('What a server group runs.');

const imagesSummarySchema = z
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

const instanceSummarySchema = z
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

const serverGroupSummarySchema = z
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

const serverGroupManagerSchema = z
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

/** Named schemas of the routes of server groups. */
export const serverGroupSchemas = {
  BuildInfo: buildInfoSchema,
  ExpandedServerGroup: expandedServerGroupSchema,
  ImageSummary: imageSummarySchema,
  ImagesSummary: imagesSummarySchema,
  InstanceCounts: instanceCountsSchema,
  InstanceSummary: instanceSummarySchema,
  ServerGroup: serverGroupSchema,
  ServerGroupManager: serverGroupManagerSchema,
  ServerGroupSummary: serverGroupSummarySchema,
};

const moniker = { app: 'shop', cluster: 'deployment frontend', sequence: 7 };
const name = 'replicaSet frontend-6d5f7c9b8';
const buildInfo = { images: ['registry.example.com/shop/frontend:1.4'] };

/** What a server group runs, for examples. */
export const imageSummaryExample = { serverGroupName: 'frontend-6d5f7c9b8', buildInfo };

const core = {
  type: 'kubernetes',
  cloudProvider: 'kubernetes',
  capacity: { desired: 1, pinned: false },
  instanceCounts: { total: 1, up: 1, down: 0, unknown: 0, outOfService: 0, starting: 0 },
  loadBalancers: ['service frontend'],
  serverGroupManagers: [{ account: 'prod', location: 'web', name: 'frontend' }],
  buildInfo,
  securityGroups: [],
};

/** A server group with everything, for examples. */
export const serverGroupExample = {
  account: 'prod',
  name,
  displayName: 'frontend-6d5f7c9b8',
  namespace: 'web',
  region: 'web',
  kind: 'replicaSet',
  apiVersion: 'apps/v1',
  labels: { app: 'frontend' },
  moniker,
  createdTime: 1795251600000,
  ...core,
  disabled: false,
  instances: [instanceExample],
  zones: [],
  launchConfig: {},
};

/** The same with what it belongs to. */
export const expandedServerGroupExample = {
  ...serverGroupExample,
  accountName: 'prod',
  cluster: 'deployment frontend',
  application: 'shop',
};

const summaryExample = {
  name,
  account: 'prod',
  region: 'web',
  cluster: 'deployment frontend',
  ...core,
  isDisabled: false,
  moniker,
  createdTime: 1795251600000,
  labels: { app: 'frontend' },
  instances: [
    {
      id: instanceExample.name,
      name: instanceExample.humanReadableName,
      healthState: 'Up',
      availabilityZone: 'web',
      health: [
        { type: 'kubernetes/pod', state: 'Up' },
        { type: 'kubernetes/container', state: 'Up' },
      ],
    },
  ],
};

const cached = { tag: 'server groups', isCached: true } as const satisfies Partial<ApiRoute>;

const cloudProviderQuery = textParameter('cloudProvider', {
  description: 'Only those of this provider, in any case. Default: all.',
  example: 'kubernetes',
});

const oneServerGroup = {
  ...cached,
  answer: {
    description: 'The server group.',
    schema: serverGroupSchema,
    examples: { replicaSet: { summary: 'A ReplicaSet', value: serverGroupExample } },
  },
  errors: [404],
} as const satisfies Partial<ApiRoute>;

const oneServerGroupParameters = [
  accountParameter,
  regionParameter,
  pathParameter('name', { description: 'Full name: kind, one space, name.', example: name }),
  flagParameter('includeDetails', 'Changes nothing: the details are always there.', true),
];

const summaries = {
  description: 'The server groups.',
  schema: z.array(serverGroupSummarySchema),
  examples: {
    one: { summary: 'One server group', value: [summaryExample] },
    none: { summary: 'None', value: [] },
  },
};

/** Routes of server groups and their managers. */
export const serverGroupRoutes: ApiRoutes = {
  'GET /applications/{application}/serverGroups': {
    ...cached,
    operationId: 'listApplicationServerGroups',
    summary: 'The server groups of an application',
    description: "Deck's clusters page asks it every 30 seconds.",
    parameters: [
      applicationParameter,
      flagParameter('expand', 'Whole server groups instead of summaries. Default: false.', true),
      cloudProviderQuery,
      textParameter('clusters', {
        description:
          'Only those of these clusters: `account:cluster`, with commas between them. Empty: none. Then `cloudProvider` does not count.',
        example: 'prod:deployment frontend',
      }),
    ],
    answer: {
      ...summaries,
      schema: z.union([z.array(serverGroupSummarySchema), z.array(expandedServerGroupSchema)]),
      examples: {
        ...summaries.examples,
        expanded: { summary: 'With `expand=true`', value: [expandedServerGroupExample] },
      },
    },
  },
  'GET /applications/{application}/serverGroups/{account}/{region}/{name}': {
    ...oneServerGroup,
    operationId: 'getApplicationServerGroup',
    summary: 'One server group',
    description: 'It need not belong to the application.',
    parameters: [applicationParameter, ...oneServerGroupParameters],
  },
  'GET /applications/{application}/serverGroupManagers': {
    ...cached,
    operationId: 'listServerGroupManagers',
    summary: 'The Deployments of an application with their ReplicaSets',
    parameters: [applicationParameter],
    answer: {
      description: 'The managers.',
      schema: z.array(serverGroupManagerSchema),
      examples: {
        one: {
          summary: 'A Deployment with one ReplicaSet',
          value: [
            {
              account: 'prod',
              name: 'deployment frontend',
              displayName: 'frontend',
              namespace: 'web',
              region: 'web',
              kind: 'deployment',
              apiVersion: 'apps/v1',
              labels: { app: 'frontend' },
              moniker: { app: 'shop', cluster: 'deployment frontend' },
              createdTime: 1795251600000,
              cloudProvider: 'kubernetes',
              serverGroups: [{ name, account: 'prod', namespace: 'web', region: 'web', moniker }],
            },
          ],
        },
        none: { summary: 'None', value: [] },
      },
    },
  },
  'GET /serverGroups': {
    ...cached,
    operationId: 'listServerGroups',
    summary: 'Server groups of applications, or those of a list',
    description: 'Exactly one of `applications` and `ids` must be there. What is not there is left out.',
    parameters: [
      textParameter('applications', { description: 'With commas between them.', example: 'shop,billing' }),
      textParameter('ids', {
        description: '`account:region:name` each, with commas between them.',
        example: `prod:web:${name}`,
      }),
      cloudProviderQuery,
    ],
    answer: summaries,
  },
  'GET /serverGroups/{account}/{region}/{name}': {
    ...oneServerGroup,
    operationId: 'getServerGroup',
    summary: 'One server group',
    parameters: oneServerGroupParameters,
  },
};
