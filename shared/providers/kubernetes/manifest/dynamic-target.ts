import { InvalidInputError } from '#core/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { findReplicas, readCreationTimestamp } from './identity.ts';

/** Criteria by which a pipeline picks a member of a cluster without knowing its name. */
export const targetCriteria = ['oldest', 'newest', 'second_newest', 'largest', 'smallest'] as const;

/** One of the criteria above. */
export type TargetCriteria = (typeof targetCriteria)[number];

/**
 * Reads the criteria from a path, in exactly this spelling.
 *
 * @throws InvalidInputError for anything else.
 */
export function parseTargetCriteria(text: string): TargetCriteria {
  const criteria = targetCriteria.find((known) => known === text);
  if (criteria !== undefined) return criteria;
  throw new InvalidInputError(`criteria '${text}' is none of ${targetCriteria.join(', ')}`);
}

/** The object that meets the criteria; undefined if there are too few. Among equals the later one is newer and larger. */
export function pickTarget(manifests: readonly Manifest[], criteria: TargetCriteria): Manifest | undefined {
  const isBySize = criteria === 'largest' || criteria === 'smallest';
  const ascending = manifests.toSorted(isBySize ? compareSize : compareAge);
  if (criteria === 'oldest' || criteria === 'smallest') return ascending[0];
  return ascending.at(criteria === 'second_newest' ? -2 : -1);
}

/** Older first. */
function compareAge(one: Manifest, other: Manifest): number {
  const [left, right] = [readCreationTimestamp(one), readCreationTimestamp(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Fewer replicas first; objects without a replica count come first of all. */
function compareSize(one: Manifest, other: Manifest): number {
  return (findReplicas(one) ?? -1) - (findReplicas(other) ?? -1);
}
