/** Of 64 bits, as etcd counts: what has more digits is none, and a million of them take half a second to read. */
const numeric = /^\d{1,20}$/;

/**
 * Whether one resource version is older than another of the same kind in the same cluster. Kubernetes' are numbers that rise;
 * of what is none nothing is known, and the answer is false.
 */
export function isOlder(one: string, other: string): boolean {
  if (!numeric.test(one) || !numeric.test(other)) return false;
  return BigInt(one) < BigInt(other);
}

/** Whether what is known up to `known` includes `wanted`. */
export function includesVersion(known: string, wanted: string): boolean {
  return known === wanted || isOlder(wanted, known);
}
