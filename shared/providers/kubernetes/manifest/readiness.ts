import { InvalidInputError } from '#core/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { annotationKeys, readTextAnnotation } from './annotations.ts';
import { readFullName } from './identity.ts';

/** The rules that decide whether an object is ready: Clouddriver's alone, or those of kstatus as well. */
export type ReadinessRules = 'clouddriver' | 'kstatus';

/** All of them; the first is the default. */
export const readinessRules: readonly ReadinessRules[] = ['clouddriver', 'kstatus'];

/** The rules of that name, in any case; undefined if there are none. */
export function findReadinessRules(text: string): ReadinessRules | undefined {
  return readinessRules.find((rules) => rules === text.trim().toLowerCase());
}

/** The rules that an object's annotation asks for; undefined if it has none, or asks for unknown rules. */
export function readReadinessRules(manifest: Manifest): ReadinessRules | undefined {
  const text = readTextAnnotation(manifest, annotationKeys.readiness);
  return text === undefined ? undefined : findReadinessRules(text);
}

/**
 * Checks that a manifest to be deployed asks for known rules.
 *
 * @throws InvalidInputError
 */
export function checkReadinessRules(manifest: Manifest): void {
  const text = readTextAnnotation(manifest, annotationKeys.readiness);
  if (text === undefined || findReadinessRules(text) !== undefined) return;
  throw new InvalidInputError(
    `${readFullName(manifest)}: annotation ${annotationKeys.readiness} is ${JSON.stringify(text.slice(0, 100))}: ` +
      `expected one of ${readinessRules.join(', ')}`,
  );
}
