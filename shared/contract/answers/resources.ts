import * as z from 'zod';
import type { Answer } from './answer.ts';

/** A count, or a time in epoch milliseconds. */
export const wholeNumber = z.int().min(0);

/** Where Spinnaker files an object. */
export const monikerSchema = z
  .strictObject({
    app: z.string().optional().describe('Application.'),
    cluster: z.string().optional().describe('Cluster: `deployment web`.'),
    stack: z.string().optional(),
    detail: z.string().optional(),
    sequence: wholeNumber.optional().describe('The number of a version: 3 of `web-v003`.'),
  })
  .describe('Where Spinnaker files an object.');

const kubernetes = z.literal('kubernetes');

/** Members of every view of an object. */
export const resourceShape = {
  account: z.string().min(1),
  name: z.string().min(1).describe('Full name: the kind, one space, the name.'),
  displayName: z.string().min(1).describe('The name alone.'),
  namespace: z.string(),
  region: z.string().describe('The namespace again.'),
  kind: z.string().min(1),
  apiVersion: z.string().min(1),
  labels: z.record(z.string(), z.string()),
  moniker: monikerSchema,
  createdTime: wholeNumber.optional().describe('Epoch milliseconds.'),
};

/** Members of every view that names its provider. */
export const providedShape = { cloudProvider: kubernetes, type: kubernetes };

const healthState = z.enum(['Up', 'Down', 'Unknown']);

const healthSchema = z.strictObject({
  state: healthState,
  source: z.string().describe('`Pod`, or `Container web`.'),
  type: z.enum(['kubernetes/pod', 'kubernetes/container']),
  platform: z.literal('platform').describe('The word itself, as in Clouddriver.'),
});

/** A pod. */
export const instanceSchema = z
  .strictObject({
    name: z.string().min(1).describe('The uid of the pod.'),
    humanReadableName: z.string().min(1).describe('Full name: `pod web-x7k2p`.'),
    displayName: z.string().min(1),
    account: z.string().min(1),
    namespace: z.string(),
    zone: z.string().describe('The namespace again.'),
    kind: z.string().min(1),
    apiVersion: z.string().min(1),
    labels: z.record(z.string(), z.string()),
    moniker: monikerSchema,
    createdTime: wholeNumber.optional().describe('Epoch milliseconds.'),
    cloudProvider: kubernetes,
    providerType: kubernetes,
    healthState,
    health: z.array(healthSchema).describe('The pod, then its containers.'),
  })
  .describe('A pod.');

const loadBalancerInstanceSchema = z.strictObject({
  id: z.string().min(1).describe('The uid of the pod.'),
  name: z.string().min(1),
  zone: z.string(),
  health: z.union([healthSchema, z.strictObject({})]),
});

/** A service or an ingress. */
export const loadBalancerSchema = z
  .strictObject({
    ...resourceShape,
    ...providedShape,
    serverGroups: z.array(
      z.strictObject({
        name: z.string().min(1),
        account: z.string().min(1),
        region: z.string(),
        cloudProvider: kubernetes,
        isDisabled: z.boolean(),
        detachedInstances: z.array(z.unknown()).max(0),
        instances: z.array(loadBalancerInstanceSchema).describe('The pods that it selects.'),
      }),
    ),
  })
  .describe('A service or an ingress, with the server groups behind it.');

/** A pod, as `GET /instances/{account}/{region}/{id}` and the details of server groups show it. */
export type InstanceView = Answer<typeof instanceSchema>;

/** A service or an ingress. */
export type LoadBalancerView = Answer<typeof loadBalancerSchema>;

/** An object of any cached kind. */
export const rawResourceSchema = z.strictObject(resourceShape).describe('An object of any cached kind.');

/** What every view of an object shows. */
export type ResourceView = Answer<typeof rawResourceSchema>;

/** How a pod or one of its containers fares. */
export type HealthView = InstanceView['health'][number];
