import { asJsonObject, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { isScalar } from './annotations.ts';
import { changeObject } from './edit.ts';

/** Where a manifest may have metadata with annotations and labels that people write: its own, and its templates'. */
const metadataPaths: readonly (readonly string[])[] = [
  ['metadata'],
  ['spec', 'template', 'metadata'],
  ['spec', 'jobTemplate', 'metadata'],
  ['spec', 'jobTemplate', 'spec', 'template', 'metadata'],
];

/** Labels that a workload, a PodDisruptionBudget or a NetworkPolicy selects: equal to some of the labels above. */
const selectorPaths: readonly (readonly string[])[] = [
  ['spec', 'selector', 'matchLabels'],
  ['spec', 'podSelector', 'matchLabels'],
];

/** The most places named in a message. */
const placesToldMax = 10;

/** A manifest, and the places whose values were converted to texts: `metadata.labels.version`. */
export interface WrittenTexts {
  readonly manifest: Manifest;
  readonly changed: readonly string[];
}

/**
 * Converts numbers and booleans in a manifest's annotations, labels and `matchLabels` to texts: Kubernetes accepts only texts, and YAML
 * reads versions as numbers. The given manifest is unchanged; one without such values is returned itself.
 */
export function writeMetadataTexts(manifest: Manifest): WrittenTexts {
  const changed: string[] = [];
  const maps = [
    ...metadataPaths.flatMap((path) => [
      [...path, 'annotations'],
      [...path, 'labels'],
    ]),
    ...selectorPaths,
  ];
  const written = maps.reduce((current, path) => {
    const values = asJsonObject(getPath(current, ...path)) ?? {};
    const keys = Object.keys(values).filter((key) => isNoText(values[key]));
    if (keys.length === 0) return current;
    changed.push(...keys.map((key) => [...path, key].join('.')));
    return changeObject(current, path, (present) => toTexts(present));
  }, manifest);
  return { manifest: written, changed };
}

/** A sentence about the values that were converted to texts. */
export function describeTexts(changed: readonly string[]): string {
  const told = changed.slice(0, placesToldMax).join(', ');
  const more = changed.length > placesToldMax ? ` and ${changed.length - placesToldMax} more` : '';
  return `values of annotations and labels must be texts; these were made texts: ${told}${more}`;
}

function toTexts(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, isNoText(value) ? String(value) : value]),
  );
}

function isNoText(value: JsonValue | undefined): boolean {
  return isScalar(value) && typeof value !== 'string';
}
