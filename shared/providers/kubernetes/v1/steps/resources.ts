import { getBuiltInResource } from '../../api/built-in-resources.ts';
import type { ApiResource } from '../../api/client.ts';

/** The resources of the kinds that V1 operations use. */
export const resources = {
  ReplicationController: getBuiltInResource('v1', 'ReplicationController'),
  ReplicaSet: getBuiltInResource('apps/v1', 'ReplicaSet'),
  StatefulSet: getBuiltInResource('apps/v1', 'StatefulSet'),
  DaemonSet: getBuiltInResource('apps/v1', 'DaemonSet'),
  Deployment: getBuiltInResource('apps/v1', 'Deployment'),
  Service: getBuiltInResource('v1', 'Service'),
  Ingress: getBuiltInResource('networking.k8s.io/v1', 'Ingress'),
  Pod: getBuiltInResource('v1', 'Pod'),
  HorizontalPodAutoscaler: getBuiltInResource('autoscaling/v2', 'HorizontalPodAutoscaler'),
} as const satisfies { readonly [kind: string]: ApiResource };

/** A kind that V1 operations use. */
export type V1Kind = keyof typeof resources;
