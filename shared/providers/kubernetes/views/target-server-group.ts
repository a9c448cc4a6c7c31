import type { ServerGroupView } from '#contract/answers/server-groups.ts';
import { InvalidInputError } from '#core/errors.ts';
import { compareText } from '#core/text-order.ts';
import type { TargetServerGroupRequest } from '#views/views.ts';

/** A server group by its position in its cluster. */
export type TargetServerGroup = 'CURRENT' | 'PREVIOUS' | 'OLDEST' | 'LARGEST' | 'FAIL';

const targets: { readonly [name: string]: TargetServerGroup | undefined } = {
  current: 'CURRENT',
  newest: 'CURRENT',
  previous: 'PREVIOUS',
  ancestor: 'PREVIOUS',
  oldest: 'OLDEST',
  largest: 'LARGEST',
  fail: 'FAIL',
};

/** How a target is picked. */
export type TargetRequest = Pick<TargetServerGroupRequest, 'location' | 'onlyEnabled' | 'validateOldest'> & {
  readonly target: TargetServerGroup;
};

/** Reads a target as Orca and Keel write it: in any case, perhaps with `_asg` or `_asg_dynamic`. @throws InvalidInputError for others */
export function parseTargetServerGroup(text: string): TargetServerGroup {
  const name = text.toLowerCase().replace(/_asg(_dynamic)?$/, '');
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target !== undefined) return target;
  throw new InvalidInputError(`target: expected current, previous, oldest, largest or fail, got '${text}'`);
}

/** The members of any form of a server group that decide. */
type Candidate = Pick<ServerGroupView, 'region' | 'disabled' | 'createdTime' | 'moniker' | 'name'> & {
  readonly instances: readonly unknown[];
};

/**
 * Picks one of a cluster's server groups, or undefined if there is no such target: no candidate, no second one for `PREVIOUS` and a
 * validated `OLDEST`, a second one for `FAIL`. `LARGEST` is the newest of those with the most pods.
 */
export function findTargetServerGroup<View extends Candidate>(
  serverGroups: readonly View[],
  { target, location, onlyEnabled, validateOldest }: TargetRequest,
): View | undefined {
  const newestFirst = serverGroups
    .filter(({ region, disabled }) => (location ?? region) === region && !(onlyEnabled && disabled))
    .sort(compareAge);
  const isAlone = newestFirst.length === 1;
  const picks: { readonly [target in TargetServerGroup]: () => View | undefined } = {
    CURRENT: () => newestFirst[0],
    PREVIOUS: () => newestFirst[1],
    OLDEST: () => (isAlone && validateOldest ? undefined : newestFirst.at(-1)),
    LARGEST: () => newestFirst.toSorted((one, other) => other.instances.length - one.instances.length)[0],
    FAIL: () => (isAlone ? newestFirst[0] : undefined),
  };
  return picks[target]();
}

/** Newest first; within the same second the higher version first. */
function compareAge(one: Candidate, other: Candidate): number {
  return (
    (other.createdTime ?? 0) - (one.createdTime ?? 0) ||
    (other.moniker.sequence ?? -1) - (one.moniker.sequence ?? -1) ||
    compareText(other.name, one.name)
  );
}
