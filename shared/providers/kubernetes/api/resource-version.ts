/** 64-bit numbers, as in etcd: a text with more digits is invalid, and a million digits take half a second to parse. */
const numeric = /^\d{1,20}$/;

/**
 * Whether one resource version is older than another of the same kind in the same cluster. Kubernetes' are increasing numbers; for other
 * texts nothing is known, and the result is false.
 */
export function isOlder(one: string, other: string): boolean {
  if (!numeric.test(one) || !numeric.test(other)) return false;
  return BigInt(one) < BigInt(other);
}

/** Whether knowledge up to `known` includes `wanted`. */
export function includesVersion(known: string, wanted: string): boolean {
  return known === wanted || isOlder(wanted, known);
}
