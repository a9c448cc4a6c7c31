import * as z from 'zod';
import type { Answer } from './answer.ts';
import { loadBalancerSchema } from './resources.ts';
import { serverGroupSchema } from './server-groups.ts';

/** Who a cluster is. */
export const clusterMonikerSchema = z.strictObject({ app: z.string().min(1), cluster: z.string().min(1) });

/** A cluster with what it consists of. */
export const clusterSchema = z
  .strictObject({
    name: z.string().min(1),
    type: z.literal('kubernetes'),
    accountName: z.string().min(1),
    application: z.string().min(1),
    moniker: clusterMonikerSchema,
    serverGroups: z.array(serverGroupSchema).describe('Empty unless expanded.'),
    loadBalancers: z
      .array(loadBalancerSchema)
      .describe(
        "Those that the cluster's server groups are behind, with these alone. Empty unless expanded.",
      ),
  })
  .describe('A cluster: the versions of one thing.');

/** A cluster of an account's list. */
export const clusterSummarySchema = z
  .strictObject({
    name: z.string().min(1),
    account: z.string().min(1),
    moniker: clusterMonikerSchema,
    loadBalancers: z.array(z.string()).describe('Full names.'),
    serverGroups: z.array(z.string()).describe('Full names.'),
  })
  .describe('A cluster, in short.');

/** A cluster with what it consists of. */
export type ClusterView = Answer<typeof clusterSchema>;

/** A cluster of an account's list. */
export type ClusterSummaryView = Answer<typeof clusterSummarySchema>;

/** Names of the clusters of an application, by account. */
export const clusterNamesSchema = z.record(z.string(), z.array(z.string()));

/** Names of the clusters of an application, by account. */
export type ClusterNamesView = Answer<typeof clusterNamesSchema>;
