import type { V1HealthView } from '#contract/answers/kubernetes-v1.ts';
import type { InstanceCountsView } from '#contract/answers/server-groups.ts';
import type { ObjectFacts } from '../../rows/facts.ts';
import type { V1ContainerFacts, V1PodFacts } from '../../rows/v1-facts.ts';
import { isLoadBalancerLabel } from '../naming/labels.ts';

/** The health of a pod, in Spinnaker's words. */
type V1HealthState = V1HealthView['state'];

/** A state, and its reason if known. */
type Verdict = Pick<V1HealthView, 'state' | 'description'>;

/** The health of a pod: by its phase, by each load balancer that it is labelled for, by each of its containers. */
export function toV1HealthViews({ pod, v1, labels }: ObjectFacts): V1HealthView[] {
  const { containers = [], ...others } = v1?.pod ?? {};
  const own = judgePod(pod?.phase ?? '', { ...others, containers });
  return [
    { source: 'Pod', type: 'KubernetesPod', healthClass: 'platform', ...own },
    ...Object.entries(labels)
      .filter(([label]) => isLoadBalancerLabel(label))
      .map(
        ([label, value]): V1HealthView => ({
          source: `Service ${label}`,
          type: 'KubernetesService',
          state: value === 'true' ? 'Up' : value === 'false' ? 'OutOfService' : 'Unknown',
        }),
      ),
    ...containers.map(
      (container): V1HealthView => ({
        source: `Container ${container.image}`,
        type: 'KubernetesContainer',
        ...judgeContainer(container),
      }),
    ),
  ];
}

/** The overall health of a pod. Unknown states do not count beside known ones. */
export function getV1HealthState(health: readonly V1HealthView[]): V1HealthState {
  const states = health.map(({ state }) => state).filter((state) => state !== 'Unknown');
  const isAll = (state: V1HealthState): boolean =>
    states.length > 0 && states.every((each) => each === state);
  if (isAll('Up')) return 'Up';
  if (isAll('Succeeded')) return 'Succeeded';
  const worst = (['Starting', 'Down', 'Failed', 'OutOfService'] as const).find((state) =>
    states.includes(state),
  );
  return worst ?? 'Unknown';
}

/** Counts pods by their health; one that has ended counts as unknown, or as down if it failed. */
export function countV1Instances(states: readonly V1HealthState[]): InstanceCountsView {
  const count = (...wanted: readonly V1HealthState[]): number =>
    states.filter((state) => wanted.includes(state)).length;
  return {
    total: states.length,
    up: count('Up'),
    down: count('Down', 'Failed'),
    outOfService: count('OutOfService'),
    starting: count('Starting'),
    unknown: count('Unknown', 'Succeeded'),
  };
}

function judgePod(phase: string, { reason, containers }: V1PodFacts): Verdict {
  switch (phase) {
    case 'Pending':
      return containers.length === 0
        ? { state: 'Down', description: reason ?? 'No containers scheduled' }
        : { state: 'Unknown' };
    case 'Running':
      return { state: 'Up' };
    case 'Succeeded':
    case 'Failed':
      return { state: phase };
    default:
      return { state: 'Unknown' };
  }
}

function judgeContainer({ state, isReady, reason, exitCode }: V1ContainerFacts): Verdict {
  if (state === 'running')
    return isReady ? { state: 'Up' } : { state: 'Down', description: "Readiness probe hasn't passed" };
  const described = reason === undefined ? {} : { description: reason };
  if (state === 'waiting') return { state: 'Down', ...described };
  if (state === undefined) return { state: 'Unknown' };
  if (reason !== 'Completed') return { state: 'Down', ...described };
  return exitCode === 0
    ? { state: 'Succeeded' }
    : { state: 'Failed', description: `Container terminated with code ${exitCode}` };
}
