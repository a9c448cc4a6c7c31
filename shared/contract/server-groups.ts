import * as z from 'zod';
import {
  v1HealthSchema,
  v1InstanceSummarySchema,
  v1ServerGroupSchema,
  v1ServerGroupSummarySchema,
} from './answers/kubernetes-v1.ts';
import {
  buildInfoSchema,
  expandedServerGroupSchema,
  imageSummarySchema,
  imagesSummarySchema,
  instanceCountsSchema,
  instanceSummarySchema,
  serverGroupManagerSchema,
  serverGroupSchema,
  serverGroupSummarySchema,
} from './answers/server-groups.ts';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, flagParameter, pathParameter, textParameter } from './parameters.ts';
import { applicationParameter, instanceExample, regionParameter } from './resources.ts';

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
  V1Health: v1HealthSchema,
  V1InstanceSummary: v1InstanceSummarySchema,
  V1ServerGroup: v1ServerGroupSchema,
  V1ServerGroupSummary: v1ServerGroupSummarySchema,
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
    schema: z.union([serverGroupSchema, v1ServerGroupSchema]),
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

const anySummarySchema = z.union([serverGroupSummarySchema, v1ServerGroupSummarySchema]);

const summaries = {
  description: 'The server groups.',
  schema: z.array(anySummarySchema),
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
    summary:
      'The server groups of an application, in short; whole with `expand=true`; with `clusters=account:cluster,…` those of these clusters',
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
      schema: z.union([
        z.array(anySummarySchema),
        z.array(z.union([expandedServerGroupSchema, v1ServerGroupSchema])),
      ]),
      examples: {
        ...summaries.examples,
        expanded: { summary: 'With `expand=true`', value: [expandedServerGroupExample] },
      },
    },
  },
  'GET /applications/{application}/serverGroups/{account}/{region}/{name}': {
    ...oneServerGroup,
    operationId: 'getApplicationServerGroup',
    summary: 'One server group, of whatever application',
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
    summary: 'Server groups in short, by `applications` or by `ids=account:region:name,…`',
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
