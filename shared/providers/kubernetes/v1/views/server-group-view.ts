import type { V1ServerGroupSummaryView, V1ServerGroupView } from '#contract/answers/kubernetes-v1.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { parseUri } from '../build/image.ts';
import { countV1Instances, getV1HealthState, toV1HealthViews } from './health.ts';
import { toV1InstanceSummaryView } from './instance-view.ts';
import { isV1Disabled, listLoadBalancersOf, listSecurityGroupsOf } from './server-group-links.ts';

/** The surroundings of a server group. */
export interface V1ServerGroupContext {
  readonly account: string;
  /** The Ingresses of its namespace, or of more. */
  readonly ingresses: readonly ObjectFacts[];
}

/** What both forms of a server group show. */
export type V1ServerGroupCore = Omit<
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
export function toV1ServerGroupCore(
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
