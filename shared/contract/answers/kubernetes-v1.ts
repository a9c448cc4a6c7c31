import * as z from 'zod';
import type { Answer } from './answer.ts';
import { monikerSchema, providedShape, wholeNumber } from './resources.ts';
import {
  buildInfoSchema,
  imageSummarySchema,
  imagesSummarySchema,
  instanceCountsSchema,
} from './server-groups.ts';

const text = z.string();
const name = z.string().min(1);
const texts = z.array(text);
const textMap = z.record(text, text);
const object = z.record(text, z.unknown());
const healthState = z.enum(['Up', 'Down', 'Unknown', 'Starting', 'Succeeded', 'Failed', 'OutOfService']);

/** The object as YAML, of which too large ones have none. */
const yaml = text
  .optional()
  .describe(
    'The object, without its status and what the API server alone sets. Left out where it is too large.',
  );
const createdTime = wholeNumber.optional().describe('Epoch milliseconds.');

/** How a pod, one of its containers or its place behind a load balancer fares. */
export const v1HealthSchema = z
  .strictObject({
    source: name.describe('`Pod`, `Service load-balancer-web` or `Container registry.example.com/web:1`.'),
    type: z.enum(['KubernetesPod', 'KubernetesService', 'KubernetesContainer']),
    healthClass: z.literal('platform').optional().describe('Of the pod alone.'),
    state: healthState,
    description: text.optional().describe('Why it is so.'),
  })
  .describe('How a pod of a V1 account, one of its containers or its place behind a load balancer fares.');

/** A pod of a V1 account, in short. */
export const v1InstanceSummarySchema = z
  .strictObject({
    id: name.describe('Name of the pod.'),
    name,
    healthState,
    zone: text.describe('Namespace.'),
    availabilityZone: text.describe('Namespace.'),
    launchTime: wholeNumber.optional().describe('Epoch milliseconds.'),
    health: z.array(v1HealthSchema),
  })
  .describe('A pod of a V1 account, in short.');

const coreShape = {
  ...providedShape,
  name: name.describe('Name of the object, without its kind.'),
  account: name,
  region: text.describe('Namespace.'),
  moniker: monikerSchema,
  createdTime,
  labels: textMap.describe('Those of its pods.'),
  capacity: z.strictObject({ min: wholeNumber, max: wholeNumber, desired: wholeNumber }),
  instanceCounts: instanceCountsSchema,
  loadBalancers: texts.describe(
    'Names of the Services that its pods are labelled for, in or out of service.',
  ),
  securityGroups: texts.describe('Names of the Ingresses that lead to them.'),
  buildInfo: buildInfoSchema,
};

/** A server group of a V1 account, in short. */
export const v1ServerGroupSummarySchema = z
  .strictObject({
    ...coreShape,
    cluster: text.optional(),
    isDisabled: z.boolean(),
    serverGroupManagers: z.array(z.unknown()).max(0),
    instances: z.array(v1InstanceSummarySchema),
  })
  .describe('A server group of a V1 account, in short.');

/** A pod of a V1 account. */
export const v1InstanceSchema = z
  .strictObject({
    ...providedShape,
    name: name.describe('Name of the pod.'),
    instanceId: name.describe('Name of the pod.'),
    account: name,
    location: text.describe('Namespace.'),
    zone: text.describe('Namespace.'),
    moniker: monikerSchema,
    launchTime: wholeNumber.optional().describe('Epoch milliseconds.'),
    providerType: z.literal('kubernetes'),
    controllerName: text.optional().describe('What made it; left out for a job.'),
    controllerKind: text.optional(),
    healthState,
    health: z.array(v1HealthSchema).describe('The pod, its load balancers, its containers.'),
    loadBalancers: texts,
    pod: object.optional().describe('The pod as Kubernetes has it. Left out where it is too large.'),
    yaml,
  })
  .describe('A pod of a V1 account.');

const autoscalerStatusSchema = z.strictObject({
  currentCpuUtilization: z.number().optional(),
  currentReplicas: wholeNumber.optional(),
  desiredReplicas: wholeNumber.optional(),
  lastScaleTime: wholeNumber.optional().describe('Epoch milliseconds.'),
});

const deploymentStatusSchema = z.strictObject({
  replicas: wholeNumber.optional(),
  availableReplicas: wholeNumber.optional(),
  unavailableReplicas: wholeNumber.optional(),
  updatedReplicas: wholeNumber.optional(),
  revision: text.optional(),
});

/** A server group of a V1 account. */
export const v1ServerGroupSchema = z
  .strictObject({
    ...coreShape,
    namespace: text,
    kind: name.describe('`ReplicaSet`, `ReplicationController`, `StatefulSet` or `DaemonSet`.'),
    cluster: text.optional(),
    application: text.optional(),
    accountName: text.optional(),
    replicas: wholeNumber,
    hostNetwork: z.boolean(),
    zones: texts,
    launchConfig: z.strictObject({}),
    annotations: textMap,
    instances: z.array(v1InstanceSchema),
    deployDescription: object.describe('What `createServerGroup` would take to make it anew.'),
    autoscalerStatus: autoscalerStatusSchema.optional(),
    deploymentStatus: deploymentStatusSchema.optional(),
    revision: text.optional().describe('Which of its Deployment it is.'),
    imageSummary: imageSummarySchema,
    imagesSummary: imagesSummarySchema,
    disabled: z.boolean(),
    yaml,
  })
  .describe('A server group of a V1 account.');

const loadBalancerInstanceSchema = z.strictObject({
  id: name,
  name,
  zone: text,
  health: z.strictObject({ state: healthState }),
});

/** A load balancer of a V1 account. */
export const v1LoadBalancerSchema = z
  .strictObject({
    ...providedShape,
    name,
    account: name,
    region: text.describe('Namespace.'),
    namespace: text,
    moniker: monikerSchema,
    createdTime,
    serverGroups: z.array(
      z.strictObject({
        name,
        account: name,
        region: text,
        cloudProvider: z.literal('kubernetes'),
        isDisabled: z.boolean(),
        instances: z.array(loadBalancerInstanceSchema).describe('Pods that it leads to.'),
        detachedInstances: texts.describe('Pods that are out of service.'),
      }),
    ),
    securityGroups: texts,
    service: object.optional().describe('The Service as Kubernetes has it. Left out where it is too large.'),
    description: object.describe('What `upsertLoadBalancer` would take to make it anew.'),
    yaml,
  })
  .describe('A Service of a V1 account, with the server groups behind it.');

/** A security group of a V1 account, in a list. */
export const v1SecurityGroupSummarySchema = z.strictObject({ name, id: name });

/** A security group of a V1 account. */
export const v1SecurityGroupSchema = z
  .strictObject({
    ...providedShape,
    id: name,
    name,
    application: text.optional(),
    account: name,
    accountName: name,
    region: text.describe('Namespace.'),
    namespace: text,
    moniker: monikerSchema,
    createdTime,
    annotations: textMap,
    labels: textMap,
    inboundRules: z.array(
      z.strictObject({
        protocol: text,
        host: text.optional(),
        paths: texts,
        portRanges: z.array(z.strictObject({ startPort: wholeNumber, endPort: wholeNumber })),
      }),
    ),
    outboundRules: z.array(z.unknown()).max(0),
    loadBalancers: texts.describe('Names of the Services that it leads to.'),
    tls: z.array(z.strictObject({ hosts: texts, secretName: text.optional() })),
    ingress: object.optional().describe('The Ingress as Kubernetes has it. Left out where it is too large.'),
    description: object.describe('What `upsertSecurityGroup` would take to make it anew.'),
    summary: v1SecurityGroupSummarySchema,
    yaml,
  })
  .describe('An Ingress of a V1 account.');

/** A cluster of a V1 account. */
export const v1ClusterSchema = z
  .strictObject({
    name,
    type: z.literal('kubernetes'),
    accountName: name,
    application: name,
    moniker: z.strictObject({ app: name, cluster: name }),
    serverGroups: z.array(v1ServerGroupSchema).describe('Empty unless expanded.'),
    loadBalancers: z.array(v1LoadBalancerSchema).describe('Empty unless expanded.'),
  })
  .describe('A cluster of a V1 account.');

/** A job of a V1 account. */
export const v1JobSchema = z
  .strictObject({
    name,
    id: name,
    cluster: text.optional(),
    account: name,
    location: text.describe('Namespace.'),
    provider: z.literal('kubernetes'),
    createdTime,
    completedTime: createdTime,
    jobState: z.enum(['Starting', 'Running', 'Succeeded', 'Failed', 'Unknown']),
    message: text.optional(),
    reason: text.optional(),
    exitCode: z.number().optional(),
    signal: z.number().optional(),
    logs: text
      .optional()
      .describe('What its first container wrote, of a job that has ended; 100,000 bytes of it.'),
    completionDetails: z.strictObject({ exitCode: text, signal: text, message: text, reason: text }),
    pods: z.array(z.strictObject({ name, status: object })),
    mostRecentPodName: name,
  })
  .describe('A job of a V1 account: a pod.');

/** How something of a pod fares. */
export type V1HealthView = Answer<typeof v1HealthSchema>;
/** A pod, in short. */
export type V1InstanceSummaryView = Answer<typeof v1InstanceSummarySchema>;
/** A pod. */
export type V1InstanceView = Answer<typeof v1InstanceSchema>;
/** A server group, in short. */
export type V1ServerGroupSummaryView = Answer<typeof v1ServerGroupSummarySchema>;
/** A server group. */
export type V1ServerGroupView = Answer<typeof v1ServerGroupSchema>;
/** A load balancer. */
export type V1LoadBalancerView = Answer<typeof v1LoadBalancerSchema>;
/** A security group. */
export type V1SecurityGroupView = Answer<typeof v1SecurityGroupSchema>;
/** A security group in a list. */
export type V1SecurityGroupSummaryView = Answer<typeof v1SecurityGroupSummarySchema>;
/** A cluster. */
export type V1ClusterView = Answer<typeof v1ClusterSchema>;
/** A job. */
export type V1JobView = Answer<typeof v1JobSchema>;
