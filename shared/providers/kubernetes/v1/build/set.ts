import type {
  V1DaemonSet,
  V1DaemonSetUpdateStrategy,
  V1PersistentVolumeClaim,
  V1PodSpec,
  V1PodTemplateSpec,
  V1StatefulSet,
  V1StatefulSetUpdateStrategy,
} from '@kubernetes/client-node';
import { asJsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { DeployDescription } from '../descriptions/server-group.ts';
import type {
  PodSpecDescription,
  SetKind,
  UpdateControllerDescription,
  VolumeClaimDescription,
} from '../descriptions/set.ts';
import { createSetLabels } from '../naming/labels.ts';
import { buildMetadata, buildTemplate, type ServerGroupPlan } from './controller.ts';
import { toAmount } from './deployment.ts';
import { type Draft, findItems, findMembers, finishDraft } from './draft.ts';

/** A StatefulSet or a DaemonSet. @throws FailedOperationError when an image has no repository. */
export function buildSet(kind: SetKind, plan: ServerGroupPlan): Manifest {
  return kind === 'StatefulSet' ? buildStatefulSet(plan) : buildDaemonSet(plan);
}

/**
 * The existing set with a description's size, pods and update strategy. Everything else stays, some of which the API server does not allow
 * to change: its selector, its volume claims.
 */
export function changeSet(live: Manifest, manifest: Manifest): Manifest {
  const { replicas, template, updateStrategy, minReadySeconds, revisionHistoryLimit } =
    asJsonObject(manifest['spec']) ?? {};
  const changed = { replicas, template, updateStrategy, minReadySeconds, revisionHistoryLimit };
  const said = Object.entries(changed).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  const metadata = asJsonObject(live['metadata']) ?? {};
  const { annotations } = asJsonObject(manifest['metadata']) ?? {};
  return {
    ...live,
    metadata: {
      ...metadata,
      annotations: { ...asJsonObject(metadata['annotations']), ...asJsonObject(annotations) },
    },
    spec: { ...asJsonObject(live['spec']), ...Object.fromEntries(said) },
  };
}

function buildStatefulSet(plan: ServerGroupPlan): Manifest {
  const { name, replicas, description } = plan;
  const { updateController, volumeClaims, volumeAnnotations, podManagementPolicy } = description;
  return finishDraft<V1StatefulSet>({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    ...buildCommon(plan),
    spec: {
      serviceName: name,
      replicas,
      ...buildPods(plan),
      podManagementPolicy: podManagementPolicy || undefined,
      volumeClaimTemplates: findItems(volumeClaims.map((claim) => buildClaim(claim, volumeAnnotations))),
      updateStrategy: buildStrategy(updateController, ({ partition }) => ({ partition })),
      ...buildPace(updateController),
    },
  });
}

function buildDaemonSet(plan: ServerGroupPlan): Manifest {
  const { updateController } = plan.description;
  return finishDraft<V1DaemonSet>({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    ...buildCommon(plan),
    spec: {
      ...buildPods(plan),
      updateStrategy: buildStrategy(updateController, ({ maxUnavailable }) => ({
        maxUnavailable: toAmount(maxUnavailable),
      })),
      ...buildPace(updateController),
    },
  });
}

function buildCommon(plan: ServerGroupPlan): Pick<Draft<V1StatefulSet>, 'metadata'> {
  return {
    metadata: { ...buildMetadata(plan, plan.description.controllerAnnotations), labels: toLabels(plan) },
  };
}

function buildPods(plan: ServerGroupPlan): {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: Draft<V1PodTemplateSpec>;
} {
  const matchLabels = toLabels(plan);
  const { podSpec } = plan.description;
  const description = podSpec === undefined ? plan.description : mergePodSpec(plan.description, podSpec);
  const { metadata, spec } = buildTemplate({ ...plan, description }, matchLabels);
  return {
    selector: { matchLabels },
    template: { metadata, spec: { ...spec, ...(podSpec && buildFurther(podSpec)) } },
  };
}

function toLabels({ name, namespace, description }: ServerGroupPlan): Readonly<Record<string, string>> {
  return createSetLabels({ app: description.application ?? '', name, namespace });
}

/** A description's own fields win over those in its `podSpec`. */
function mergePodSpec(description: DeployDescription, podSpec: PodSpecDescription): DeployDescription {
  const { containers, volumeSources, nodeSelector } = description;
  return {
    ...description,
    containers: containers.length > 0 ? containers : podSpec.containers,
    volumeSources: volumeSources.length > 0 ? volumeSources : podSpec.volumeSources,
    nodeSelector: { ...podSpec.nodeSelector, ...nodeSelector },
    dnsPolicy: description.dnsPolicy ?? podSpec.dnsPolicy,
    hostNetwork: description.hostNetwork ?? podSpec.hostNetwork,
    restartPolicy: description.restartPolicy || podSpec.restartPolicy,
    serviceAccountName: description.serviceAccountName || podSpec.serviceAccountName,
    terminationGracePeriodSeconds:
      description.terminationGracePeriodSeconds || podSpec.terminationGracePeriodSeconds,
  };
}

/** The fields that only a `podSpec` has. A pod takes no more than this of a security context. */
function buildFurther(podSpec: PodSpecDescription): Draft<V1PodSpec> {
  const { runAsUser, runAsNonRoot, seLinuxOptions } = podSpec.securityContext ?? {};
  return {
    activeDeadlineSeconds: podSpec.activeDeadlineSeconds || undefined,
    hostIPC: podSpec.hostIPC,
    hostPID: podSpec.hostPID,
    hostname: podSpec.hostname || undefined,
    nodeName: podSpec.nodeName || undefined,
    subdomain: podSpec.subdomain || undefined,
    securityContext: podSpec.securityContext && { runAsUser, runAsNonRoot, seLinuxOptions },
  };
}

function buildClaim(
  { claimName, accessModes, requirements, selector, storageClassName }: VolumeClaimDescription,
  annotations: Readonly<Record<string, string>>,
): Draft<V1PersistentVolumeClaim> {
  return {
    metadata: { name: claimName, annotations: findMembers(annotations) },
    spec: {
      accessModes: findItems(accessModes),
      resources: requirements && {
        limits: findMembers(requirements.limits),
        requests: findMembers(requirements.requests),
      },
      selector: selector && {
        matchExpressions: findItems(
          selector.matchExpressions.map(({ values, ...expression }) => ({
            ...expression,
            values: findItems(values),
          })),
        ),
        matchLabels: findMembers(selector.matchLabels),
      },
      storageClassName: storageClassName || undefined,
    },
  };
}

type RollingUpdate = NonNullable<NonNullable<UpdateControllerDescription['updateStrategy']>['rollingUpdate']>;

/** The cluster's own strategy if none is given. With `Recreate` the cluster does nothing: the deploy deletes the pods. */
function buildStrategy<T extends V1StatefulSetUpdateStrategy | V1DaemonSetUpdateStrategy>(
  updateController: UpdateControllerDescription | undefined,
  toRollingUpdate: (rollingUpdate: RollingUpdate) => Draft<NonNullable<T['rollingUpdate']>>,
): { readonly type: string; readonly rollingUpdate?: Draft<NonNullable<T['rollingUpdate']>> } | undefined {
  const { type, rollingUpdate } = updateController?.updateStrategy ?? {};
  if (type === undefined) return undefined;
  if (type === 'Recreate') return { type: 'OnDelete' };
  return { type, ...(rollingUpdate && { rollingUpdate: toRollingUpdate(rollingUpdate) }) };
}

/** Deck sends 0 for the cluster's defaults. */
function buildPace(updateController: UpdateControllerDescription | undefined): {
  readonly minReadySeconds: number | undefined;
  readonly revisionHistoryLimit: number | undefined;
} {
  return {
    minReadySeconds: updateController?.minReadySeconds || undefined,
    revisionHistoryLimit: updateController?.revisionHistoryLimit,
  };
}
