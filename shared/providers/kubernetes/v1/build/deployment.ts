import type { V1Deployment, V1DeploymentStrategy } from '@kubernetes/client-node';
import type { Manifest } from '../../api/manifest.ts';
import type { DeploymentDescription } from '../descriptions/server-group.ts';
import { createSelectorLabels } from '../naming/labels.ts';
import { buildTemplate, getClusterName, type ServerGroupPlan } from './controller.ts';
import { type Draft, findMembers, finishDraft } from './draft.ts';

/**
 * The Deployment that creates the pods of a server group's ReplicaSet. It is named after the cluster, and selects by the one label that all
 * of the cluster's server groups have: a Deployment's selector never changes.
 *
 * @throws FailedOperationError when an image has no repository.
 */
export function buildDeployment(plan: ServerGroupPlan): Manifest {
  const { name, namespace, replicas, annotations, description } = plan;
  const cluster = getClusterName(name);
  const { deployment } = description;
  return finishDraft<V1Deployment>({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: cluster, namespace, annotations: findMembers(annotations) },
    spec: {
      replicas,
      selector: { matchLabels: { [cluster]: 'true' } },
      template: buildTemplate(plan, createSelectorLabels(name, cluster)),
      minReadySeconds: deployment?.minReadySeconds,
      revisionHistoryLimit: deployment?.revisionHistoryLimit,
      strategy: deployment?.deploymentStrategy && buildStrategy(deployment.deploymentStrategy),
    },
  });
}

function buildStrategy({
  type,
  rollingUpdate,
}: NonNullable<DeploymentDescription['deploymentStrategy']>): Draft<V1DeploymentStrategy> {
  return {
    type,
    rollingUpdate:
      type === 'Recreate' || rollingUpdate === undefined
        ? undefined
        : {
            maxSurge: toAmount(rollingUpdate.maxSurge),
            maxUnavailable: toAmount(rollingUpdate.maxUnavailable),
          },
  };
}

/** A number if the text is one, such as a count of pods; other texts unchanged, such as `25%`; undefined for none. */
export function toAmount(text: string | undefined): number | string | undefined {
  if (text === undefined || text === '') return undefined;
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
