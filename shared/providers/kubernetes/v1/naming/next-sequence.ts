import { FailedOperationError } from '#core/errors.ts';
import { parseServerGroupName } from '#core/frigga.ts';
import { compareText } from '#core/text-order.ts';

/** Sequences are 0 to 999; after the last comes the first. */
export const sequencesMax = 1_000;

/** An existing server group. */
interface KnownServerGroup {
  readonly name: string;
  /** As the API server returns it, to the second: `2026-01-31T12:00:00Z`. */
  readonly creationTimestamp: string;
}

/** The sequence of a cluster's next server group, and the previous one. */
interface NextSequence {
  readonly sequence: number;
  /** Name of the latest server group of the cluster; undefined if there is none. */
  readonly ancestor: string | undefined;
}

/**
 * Chooses the sequence of a new server group, as Spinnaker's `NameResolver` does: the one after the latest, or the next free one. Of
 * several created in the same second the highest sequence counts as the latest.
 *
 * @param cluster name of the cluster. @param namespace for the message.
 * @throws FailedOperationError if all of them are taken.
 */
export function chooseNextSequence(
  serverGroups: readonly KnownServerGroup[],
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
): NextSequence {
  const members = serverGroups
    .map((group) => ({ ...group, ...parseServerGroupName(group.name) }))
    .filter((group) => group.cluster === cluster);
  // Times of one form compare as texts.
  const byAge = members.toSorted(
    (one, other) =>
      compareText(one.creationTimestamp, other.creationTimestamp) ||
      (one.sequence ?? -1) - (other.sequence ?? -1),
  );
  const latest = byAge.at(-1);
  if (latest === undefined) return { sequence: 0, ancestor: undefined };
  const taken = new Set(members.map(({ sequence }) => sequence));
  const first = ((latest.sequence ?? 0) + 1) % sequencesMax;
  for (let step = 0; step < sequencesMax; step += 1) {
    const sequence = (first + step) % sequencesMax;
    if (!taken.has(sequence)) return { sequence, ancestor: latest.name };
  }
  throw new FailedOperationError(`All server group names for cluster ${cluster} in ${namespace} are taken.`);
}
