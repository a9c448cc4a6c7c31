import * as z from 'zod';
import {
  clusterMonikerSchema,
  clusterNamesSchema,
  clusterSchema,
  clusterSummarySchema,
} from './answers/clusters.ts';
import { v1ClusterSchema, v1LoadBalancerSchema, v1ServerGroupSchema } from './answers/kubernetes-v1.ts';
import { loadBalancerSchema } from './answers/resources.ts';
import { expandedServerGroupSchema, serverGroupSchema, summarySchema } from './answers/server-groups.ts';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import {
  accountParameter,
  clusterParameter,
  flagParameter,
  kubernetesParameter,
  pathParameter,
  textParameter,
} from './parameters.ts';
import { applicationParameter, loadBalancerExample } from './resources.ts';
import { expandedServerGroupExample, imageSummaryExample, serverGroupExample } from './server-groups.ts';

/** Named schemas of the routes of clusters. */
export const clusterSchemas = {
  Cluster: clusterSchema,
  ClusterMoniker: clusterMonikerSchema,
  ClusterSummary: clusterSummarySchema,
  V1Cluster: v1ClusterSchema,
};

const anyClusterSchema = z.union([clusterSchema, v1ClusterSchema]);
const anyServerGroupSchema = z.union([serverGroupSchema, v1ServerGroupSchema]);

const moniker = { app: 'shop', cluster: 'deployment frontend' };

const clusterExample = {
  name: 'deployment frontend',
  type: 'kubernetes',
  accountName: 'prod',
  application: 'shop',
  moniker,
  serverGroups: [serverGroupExample],
  loadBalancers: [loadBalancerExample],
};

const cached = { tag: 'clusters', isCached: true, errors: [404] } as const satisfies Partial<ApiRoute>;

const expand = flagParameter('expand', 'With its server groups and load balancers. Default: true.', false);

const inAccount = [applicationParameter, accountParameter];
const inCluster = [...inAccount, clusterParameter];
const ofProvider = [...inCluster, kubernetesParameter];

const serverGroupParameter = pathParameter('serverGroup', {
  description: 'Full name: kind, one space, name.',
  example: 'replicaSet frontend-6d5f7c9b8',
});

const regionQuery = textParameter('region', {
  description: 'Only those of this namespace. Default: all.',
  example: 'web',
});

const targetParameters = [
  ...ofProvider,
  pathParameter('scope', { description: 'Namespace.', example: 'web' }),
  pathParameter('target', {
    description:
      '`current` or `newest`, `previous` or `ancestor`, `oldest`, `largest`, `fail` (the only one there is); in any case, also with ' +
      '`_asg` or `_asg_dynamic` at the end.',
    example: 'current_asg_dynamic',
  }),
];

const onlyEnabled = flagParameter('onlyEnabled', 'Disabled ones do not count. Default: false.', true);

/** Routes of clusters. */
export const clusterRoutes: ApiRoutes = {
  'GET /applications/{application}/clusters': {
    tag: 'clusters',
    isCached: true,
    operationId: 'listClusterNames',
    summary: 'The names of the clusters of an application by account; `{}` without any',
    parameters: [applicationParameter],
    answer: {
      description: 'Names by account.',
      schema: clusterNamesSchema,
      examples: {
        one: { summary: 'One cluster', value: { prod: ['deployment frontend'] } },
        none: { summary: 'None', value: {} },
      },
    },
  },
  'GET /applications/{application}/clusters/{account}': {
    ...cached,
    operationId: 'listClusters',
    summary: 'The clusters of an application in an account, in short; 404 without any',
    parameters: inAccount,
    answer: {
      description: 'The clusters, at least one.',
      schema: z.array(clusterSummarySchema).min(1),
      examples: {
        one: {
          summary: 'One cluster',
          value: [
            {
              name: 'deployment frontend',
              account: 'prod',
              moniker,
              loadBalancers: ['service frontend'],
              serverGroups: ['replicaSet frontend-6d5f7c9b8'],
            },
          ],
        },
      },
    },
  },
  'GET /applications/{application}/clusters/{account}/{cluster}': {
    ...cached,
    operationId: 'listNamedClusters',
    summary: 'The clusters of a name, in a list: one; with `expand=false` without what it consists of',
    description: 'Clusters of several providers may have one name.',
    parameters: [...inCluster, expand],
    answer: {
      description: 'The clusters of that name, at least one.',
      schema: z.array(anyClusterSchema).min(1),
      examples: { one: { summary: 'One cluster', value: [clusterExample] } },
    },
  },
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}': {
    ...cached,
    operationId: 'getCluster',
    summary: 'The same cluster, not in a list',
    parameters: [...ofProvider, expand],
    answer: {
      description: 'The cluster.',
      schema: anyClusterSchema,
      examples: { one: { summary: 'A cluster', value: clusterExample } },
    },
  },
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/loadBalancers': {
    ...cached,
    operationId: 'listClusterLoadBalancers',
    summary: 'The load balancers that the server groups of a cluster are behind',
    parameters: ofProvider,
    answer: {
      description: 'The load balancers.',
      schema: z.array(z.union([loadBalancerSchema, v1LoadBalancerSchema])),
      examples: { one: { summary: 'A service', value: [loadBalancerExample] } },
    },
  },
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups': {
    ...cached,
    operationId: 'listClusterServerGroups',
    summary: 'The server groups of a cluster; with `region` those of a namespace',
    parameters: [
      ...ofProvider,
      regionQuery,
      flagParameter('expand', 'False: none are told. Default: true.', true),
    ],
    answer: {
      description: 'The server groups.',
      schema: z.array(anyServerGroupSchema),
      examples: { one: { summary: 'A ReplicaSet', value: [serverGroupExample] } },
    },
  },
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}': {
    ...cached,
    operationId: 'getClusterServerGroup',
    summary: 'With `region` a server group of a cluster, without it the list of those of that name',
    parameters: [...ofProvider, serverGroupParameter, regionQuery],
    answer: {
      description: 'The server group, or the server groups.',
      schema: z.union([anyServerGroupSchema, z.array(anyServerGroupSchema).min(1)]),
      examples: {
        one: { summary: 'With `region`', value: serverGroupExample },
        list: { summary: 'Without', value: [serverGroupExample] },
      },
    },
  },
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}':
    {
      ...cached,
      operationId: 'getTargetServerGroup',
      summary:
        'The server group that a stage means: `current`, `newest`, `previous`, `ancestor`, `oldest`, `largest` or `fail`, each also with `_asg` or `_asg_dynamic`',
      description: 'Clouddriver finds none for Kubernetes.',
      parameters: [
        ...targetParameters,
        onlyEnabled,
        flagParameter('validateOldest', 'The oldest must not be the only one. Default: true.', false),
      ],
      answer: {
        description: 'The server group.',
        schema: z.union([expandedServerGroupSchema, v1ServerGroupSchema]),
        examples: { replicaSet: { summary: 'A ReplicaSet', value: expandedServerGroupExample } },
      },
    },
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}':
    {
      ...cached,
      operationId: 'getTargetSummary',
      summary: 'What that server group runs: `images`, or the first of them, `image`',
      parameters: [
        ...targetParameters,
        pathParameter('summaryType', {
          description: 'What to tell, in any case.',
          schema: z.enum(['image', 'images']),
          example: 'images',
        }),
        onlyEnabled,
      ],
      answer: {
        description: 'What it runs.',
        schema: summarySchema,
        examples: {
          images: { summary: '`images`', value: { summaries: [imageSummaryExample] } },
          image: { summary: '`image`', value: imageSummaryExample },
        },
      },
    },
};
