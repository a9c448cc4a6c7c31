import type { V1Deployment, V1ReplicaSet, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { parseServerGroupName } from '#core/frigga.ts';
import { asString, type JsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, findNumber, readList } from '../../api/unchecked.ts';
import { annotationKeys, readAnnotations, toTextMap } from '../../manifest/annotations.ts';
import { findReplicas, readName, readNamespace } from '../../manifest/identity.ts';
import { type Draft, findMembers, finishDraft } from '../build/draft.ts';
import type { DeployDescription, DeploymentDescription } from '../descriptions/server-group.ts';
import { findSetKind } from '../descriptions/set.ts';
import { listLoadBalancers } from '../naming/labels.ts';
import { readPodSpec } from './pod.ts';
import { readSet } from './set.ts';
import { findAmount, findOneOf } from './values.ts';

/** The related objects of a server group. */
export interface ServerGroupParts {
  readonly account: string;
  /** The Deployment that makes its pods. */
  readonly deployment?: Manifest | undefined;
  readonly autoscaler?: Manifest | undefined;
}

/** The description with which `createServerGroup` would recreate a server group, from its controller, Deployment and autoscaler. */
export function readServerGroup(controller: Manifest, parts: ServerGroupParts): JsonObject {
  const { spec } = asUnchecked<V1ReplicaSet>(controller);
  const { app, stack, detail } = parseServerGroupName(readName(controller));
  const namespace = readNamespace(controller);
  const { kind } = controller;
  const annotations = omitOwn(readAnnotations(controller));
  const isReplicaSet = kind === 'ReplicaSet';
  const { template } = spec ?? {};
  const { deployment, autoscaler } = parts;
  const replicas = findReplicas(deployment ?? controller);
  return {
    account: parts.account,
    ...finishDraft<DeployDescription>({
      application: app,
      stack,
      freeFormDetails: detail,
      namespace,
      kind: asString(kind),
      targetSize: replicas,
      loadBalancers: listLoadBalancers(toTextMap(template?.metadata?.labels)),
      securityGroups: [],
      ...readPodSpec(template?.spec),
      podAnnotations: omitOwn(toTextMap(template?.metadata?.annotations)),
      replicaSetAnnotations: isReplicaSet ? annotations : undefined,
      controllerAnnotations: isReplicaSet ? undefined : annotations,
      ...(findSetKind(asString(kind)) && readSet(controller)),
      deployment: deployment && readDeployment(deployment),
      ...(autoscaler && readAutoscaler(autoscaler, replicas)),
    }),
    region: namespace,
  };
}

function omitOwn(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const { [annotationKeys.creation]: _, ...others } = annotations;
  return others;
}

function readDeployment(deployment: Manifest): Draft<DeploymentDescription> {
  const { spec } = asUnchecked<V1Deployment>(deployment);
  const { type, rollingUpdate } = spec?.strategy ?? {};
  return {
    enabled: true,
    deploymentStrategy: {
      type: findOneOf(['Recreate', 'RollingUpdate'] as const, type),
      rollingUpdate: rollingUpdate
        ? findMembers({
            maxSurge: findAmount(rollingUpdate.maxSurge),
            maxUnavailable: findAmount(rollingUpdate.maxUnavailable),
          })
        : undefined,
    },
    minReadySeconds: findNumber(spec?.minReadySeconds),
    revisionHistoryLimit: findNumber(spec?.revisionHistoryLimit),
  };
}

function readAutoscaler(
  autoscaler: Manifest,
  desired: number | undefined,
): Draft<Pick<DeployDescription, 'capacity' | 'scalingPolicy'>> {
  const { spec } = asUnchecked<V2HorizontalPodAutoscaler>(autoscaler);
  const cpu = readList(spec?.metrics).find((metric) => metric?.resource?.name === 'cpu');
  const target = findNumber(cpu?.resource?.target?.averageUtilization);
  return {
    capacity: { min: findNumber(spec?.minReplicas), max: findNumber(spec?.maxReplicas), desired },
    scalingPolicy: target === undefined ? undefined : { cpuUtilization: { target } },
  };
}
