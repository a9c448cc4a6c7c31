import type { V1Deployment, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import type { V1ServerGroupSummaryView, V1ServerGroupView } from '#contract/answers/kubernetes-v1.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, findNumber, readList } from '../../api/unchecked.ts';
import { readAnnotations } from '../../manifest/annotations.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { parseUri } from '../build/image.ts';
import { readServerGroup, type ServerGroupParts } from '../read/server-group.ts';
import { findTime } from '../read/values.ts';
import { countV1Instances, getV1HealthState, toV1HealthViews } from './health.ts';
import { toKubernetesKind, toV1InstanceSummaryView, toV1InstanceView } from './instance-view.ts';
import { formatObjectYaml } from './object-yaml.ts';
import { isV1Disabled, listLoadBalancersOf, listSecurityGroupsOf } from './server-group-links.ts';

/** The surroundings of a server group. */
interface V1ServerGroupContext {
  readonly account: string;
  /** The Ingresses of its namespace, or of more. */
  readonly ingresses: readonly ObjectFacts[];
}

/** What both forms of a server group show. */
type V1ServerGroupCore = Omit<
  V1ServerGroupSummaryView,
  'cluster' | 'isDisabled' | 'serverGroupManagers' | 'instances'
>;

/** A server group as lists show it. */
export function toV1ServerGroupSummaryView(
  serverGroup: ServerGroupFacts,
  context: V1ServerGroupContext,
): V1ServerGroupSummaryView {
  const { facts } = serverGroup;
  return {
    ...toV1ServerGroupCore(serverGroup, context),
    cluster: facts.moniker.cluster,
    isDisabled: isV1Disabled(facts),
    serverGroupManagers: [],
    instances: serverGroup.instances.map(toV1InstanceSummaryView),
  };
}

/** What both forms of a server group show. */
function toV1ServerGroupCore(
  { facts, instances }: ServerGroupFacts,
  { account, ingresses }: V1ServerGroupContext,
): V1ServerGroupCore {
  const { name, namespace, moniker, createdTime, workload } = facts;
  const loadBalancers = listLoadBalancersOf(facts);
  const replicas = workload?.replicas ?? 0;
  return {
    type: cloudProvider,
    cloudProvider,
    name,
    account,
    region: namespace,
    moniker,
    createdTime,
    labels: workload?.podLabels ?? {},
    capacity: { min: replicas, max: replicas, desired: replicas },
    instanceCounts: countV1Instances(instances.map((pod) => getV1HealthState(toV1HealthViews(pod)))),
    loadBalancers,
    securityGroups: listSecurityGroupsOf(namespace, loadBalancers, ingresses),
    buildInfo: toBuildInfo(facts),
  };
}

/** Images as `repository:tag`, or `repository@digest`. */
function toBuildInfo({ workload, owners }: ObjectFacts): V1ServerGroupView['buildInfo'] {
  const images = (workload?.images ?? []).map((image) => {
    const { repository, tag, digest } = parseUri(image);
    return digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
  });
  const deployment = owners.find(({ kind }) => kind === 'deployment');
  return {
    images: [...new Set(images)],
    ...(deployment && { createdBy: deployment.name }),
  };
}

/** Kubernetes' annotation with the number of a Deployment's ReplicaSets, and the Deployment's own number. */
const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** A server group with its related objects; its own and its pods' objects are in their facts. */
export interface WholeServerGroup extends ServerGroupFacts, Omit<ServerGroupParts, 'account'> {}

/** A server group with all details. For one that is too large to be cached whole, details from the object are left out. */
export function toV1ServerGroupView(
  whole: WholeServerGroup,
  context: V1ServerGroupContext,
): V1ServerGroupView {
  const { facts, instances, deployment, autoscaler } = whole;
  const { kind, name, namespace, workload, object, moniker } = facts;
  const { account } = context;
  const core = toV1ServerGroupCore(whole, context);
  const summary = { serverGroupName: name, buildInfo: core.buildInfo };
  const annotations = object === undefined ? {} : readAnnotations(object);
  const { [revisionAnnotation]: revision } = annotations;
  const parts = { account, deployment, autoscaler };
  return {
    ...core,
    namespace,
    kind: toKubernetesKind(kind),
    accountName: account,
    cluster: moniker.cluster,
    application: moniker.app,
    replicas: workload?.replicas ?? 0,
    hostNetwork: isOnHostNetwork(object),
    zones: [namespace],
    launchConfig: {},
    annotations,
    instances: instances.map((instance) => toV1InstanceView(account, instance)),
    deployDescription: object === undefined ? {} : readServerGroup(object, parts),
    ...(autoscaler && { autoscalerStatus: toAutoscalerStatus(autoscaler) }),
    ...(deployment && { deploymentStatus: toDeploymentStatus(deployment) }),
    ...(revision !== undefined && { revision }),
    imageSummary: summary,
    imagesSummary: { summaries: [summary] },
    disabled: isV1Disabled(facts),
    ...(object && { yaml: formatObjectYaml(object) }),
  };
}

function isOnHostNetwork(object: Manifest | undefined): boolean {
  const { spec } = asUnchecked<V1Deployment>(object ?? {});
  return spec?.template?.spec?.hostNetwork === true;
}

function toAutoscalerStatus(autoscaler: Manifest): V1ServerGroupView['autoscalerStatus'] {
  const { status } = asUnchecked<V2HorizontalPodAutoscaler>(autoscaler);
  const cpu = readList(status?.currentMetrics).find((metric) => metric?.resource?.name === 'cpu');
  return {
    currentCpuUtilization: findNumber(cpu?.resource?.current?.averageUtilization),
    currentReplicas: findNumber(status?.currentReplicas),
    desiredReplicas: findNumber(status?.desiredReplicas),
    lastScaleTime: findTime(status?.lastScaleTime),
  };
}

function toDeploymentStatus(deployment: Manifest): V1ServerGroupView['deploymentStatus'] {
  const { status } = asUnchecked<V1Deployment>(deployment);
  return {
    replicas: findNumber(status?.replicas),
    availableReplicas: findNumber(status?.availableReplicas),
    unavailableReplicas: findNumber(status?.unavailableReplicas),
    updatedReplicas: findNumber(status?.updatedReplicas),
    revision: readAnnotations(deployment)[revisionAnnotation],
  };
}
