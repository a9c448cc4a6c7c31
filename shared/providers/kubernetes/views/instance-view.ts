import type { HealthView, InstanceView } from '#contract/answers/resources.ts';
import type { InstanceCountsView, InstanceSummaryView } from '#contract/answers/server-groups.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { cloudProvider } from './resource-view.ts';

/** The health of a pod or a container: those of Spinnaker's states that a pod can have. */
type HealthState = HealthView['state'];

/** A pod with all details. */
export function toInstanceView(account: string, facts: ObjectFacts): InstanceView {
  const { kind, name, namespace } = facts;
  return {
    name: facts.uid,
    humanReadableName: formatFullName(kind, name),
    displayName: name,
    account,
    namespace,
    zone: namespace,
    kind,
    apiVersion: facts.apiVersion,
    labels: facts.labels,
    moniker: facts.moniker,
    createdTime: facts.createdTime,
    cloudProvider,
    providerType: cloudProvider,
    healthState: getHealthState(facts),
    health: toHealthViews(facts),
  };
}

/** A pod as a list of server groups shows it. */
export function toInstanceSummaryView(facts: ObjectFacts): InstanceSummaryView {
  const { uid, kind, name, namespace, pod } = facts;
  return {
    id: uid,
    name: formatFullName(kind, name),
    healthState: getHealthState(facts),
    availabilityZone: namespace,
    health: pod === undefined ? [] : [summarizePod(pod.phase), ...pod.containers.map(summarizeContainer)],
  };
}

/** The health of a pod and its containers, the pod first. */
export function toHealthViews({ pod }: ObjectFacts): HealthView[] {
  if (pod === undefined) return [];
  const platform = 'platform';
  const { type, state } = summarizePod(pod.phase);
  return [
    { state, source: 'Pod', type, platform },
    ...pod.containers.map(({ name, isReady }) => {
      const { type, state } = summarizeContainer({ isReady });
      return { state, source: `Container ${name}`, type, platform } as const;
    }),
  ];
}

/**
 * The overall health of a pod: down if it or a container is down, up if something is up, else unknown. Unknown states do not count beside
 * known ones.
 */
export function getHealthState({ pod }: ObjectFacts): HealthState {
  if (pod === undefined) return 'Unknown';
  const state = getPhaseState(pod.phase);
  if (state === 'Down' || pod.containers.some(({ isReady }) => !isReady)) return 'Down';
  return pod.containers.length > 0 ? 'Up' : state;
}

/** Counts pods by their health. */
export function countInstances(instances: readonly ObjectFacts[]): InstanceCountsView {
  const counts = { total: instances.length, up: 0, down: 0, unknown: 0, outOfService: 0, starting: 0 };
  for (const instance of instances) {
    const state = getHealthState(instance);
    if (state === 'Up') counts.up += 1;
    else if (state === 'Down') counts.down += 1;
    else counts.unknown += 1;
  }
  return counts;
}

/** A pod that ended, failed or was never reported is unknown: its containers say more. */
function getPhaseState(phase: string): HealthState {
  if (phase === 'Running') return 'Up';
  return phase === 'Pending' ? 'Down' : 'Unknown';
}

type HealthSummary = Pick<HealthView, 'type' | 'state'>;

/** Shared by all pods: a large answer has tens of thousands. */
const podSummaries: { readonly [state in HealthState]: HealthSummary } = {
  Up: { type: 'kubernetes/pod', state: 'Up' },
  Down: { type: 'kubernetes/pod', state: 'Down' },
  Unknown: { type: 'kubernetes/pod', state: 'Unknown' },
};
const readySummary: HealthSummary = { type: 'kubernetes/container', state: 'Up' };
const unreadySummary: HealthSummary = { type: 'kubernetes/container', state: 'Down' };

function summarizePod(phase: string): HealthSummary {
  return podSummaries[getPhaseState(phase)];
}

function summarizeContainer({ isReady }: { isReady: boolean }): HealthSummary {
  return isReady ? readySummary : unreadySummary;
}
