import type { TextMap } from '../manifest/annotations.ts';
import { isSameTextMap } from './facts-codec.ts';

/** Labels that a pod template does not have, or has with another value; null for those that pods lack. */
export type LabelChanges = { readonly [key: string]: string | null };

/** The different labels of a server group's pods. */
export interface LabelVariants {
  /** Which variant labels are: 0 for the template's own, from 1 an entry of `changes`. */
  find(labels: TextMap): number;
  readonly changes: readonly LabelChanges[];
}

/** Collects the different labels of pods as changes of their template's labels. */
export function createVariants(podLabels: TextMap): LabelVariants {
  const known = new Map<string, number>();
  const changes: LabelChanges[] = [];
  return {
    changes,
    find(labels) {
      if (isSameTextMap(labels, podLabels)) return 0;
      const change = diffLabels(labels, podLabels);
      const key = JSON.stringify(change);
      const variant = known.get(key) ?? changes.push(change);
      known.set(key, variant);
      return variant;
    },
  };
}

/** The labels of a variant: in order of their keys, if both have that order, as what the API server writes has. */
export function mergeLabels(podLabels: TextMap, changes: LabelChanges): TextMap {
  const merged: { [key: string]: string } = {};
  const changed = Object.keys(changes);
  let next = 0;
  const addChanges = (before?: string): void => {
    for (; next < changed.length; next += 1) {
      const key = changed[next] ?? '';
      if (before !== undefined && key >= before) return;
      const value = changes[key];
      if (typeof value === 'string') merged[key] = value;
    }
  };
  for (const key in podLabels) {
    addChanges(key);
    if (!Object.hasOwn(changes, key)) merged[key] = podLabels[key] ?? '';
  }
  addChanges();
  return merged;
}

function diffLabels(labels: TextMap, base: TextMap): LabelChanges {
  const own = Object.entries(labels).filter(
    ([key, value]) => !Object.hasOwn(base, key) || base[key] !== value,
  );
  const lacking = Object.keys(base).filter((key) => !Object.hasOwn(labels, key));
  return Object.fromEntries<string | null>([...own, ...lacking.map((key) => [key, null] as const)]);
}
