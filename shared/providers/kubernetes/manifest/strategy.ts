import { InvalidInputError } from '#core/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import {
  annotationKeys,
  hasAnnotation,
  readFlagAnnotation,
  readIntegerAnnotation,
  readTextAnnotation,
} from './annotations.ts';
import { changeObject } from './edit.ts';
import { readFullName, readGenerateName } from './identity.ts';

/**
 * How a manifest reaches the cluster.
 *
 * - `create`: POST, for objects whose name the server generates.
 * - `recreate`: delete, wait until it is gone, then apply.
 * - `replace`: PUT the whole object; create it when it does not exist.
 * - `serverSideApply`: the API server merges.
 * - `apply`: merge as `kubectl apply` does.
 */
export type DeployMethod = 'create' | 'recreate' | 'replace' | 'serverSideApply' | 'apply';

/** What the `strategy.spinnaker.io/…` annotations of a manifest ask for. */
export interface Strategy {
  readonly method: DeployMethod;
  /** For `serverSideApply`: take over fields that other managers own. */
  readonly forceConflicts: boolean;
  /** Undefined if the manifest does not say. */
  readonly versioned: boolean | undefined;
  /** How many versions to keep; undefined if it does not say. */
  readonly maxVersionHistory: number | undefined;
  /** Keep the replica count that the object has in the cluster. */
  readonly useSourceCapacity: boolean;
}

/** The annotations that decide how a manifest is deployed. */
const methodKeys: readonly string[] = [
  annotationKeys.recreate,
  annotationKeys.replace,
  annotationKeys.serverSideApply,
];

/** Rollout strategies of a deploy stage that leave the previous version running until the new one is up. */
const overlappingStrategies = ['RED_BLACK', 'BLUE_GREEN'];

/** Reads what the annotations ask for, with defaults for the rest. */
export function readStrategy(manifest: Manifest): Strategy {
  return {
    method: chooseMethod(manifest),
    forceConflicts: readTextAnnotation(manifest, annotationKeys.serverSideApply) === 'force-conflicts',
    versioned: hasAnnotation(manifest, annotationKeys.versioned)
      ? readFlagAnnotation(manifest, annotationKeys.versioned)
      : undefined,
    maxVersionHistory: readIntegerAnnotation(manifest, annotationKeys.maxVersionHistory),
    useSourceCapacity: readFlagAnnotation(manifest, annotationKeys.useSourceCapacity),
  };
}

/**
 * Checks that a manifest keeps enough versions for the stage's rollout strategy.
 *
 * @throws InvalidInputError when a strategy that needs two versions at once is allowed fewer.
 */
export function checkVersionHistory(manifest: Manifest, rolloutStrategy: string | undefined): void {
  if (rolloutStrategy === undefined || !overlappingStrategies.includes(rolloutStrategy)) return;
  const { maxVersionHistory } = readStrategy(manifest);
  if (maxVersionHistory === undefined || maxVersionHistory >= 2) return;
  throw new InvalidInputError(
    `${readFullName(manifest)}: annotation ${annotationKeys.maxVersionHistory} is ${maxVersionHistory}, ` +
      `but the strategy ${rolloutStrategy} needs at least 2 versions`,
  );
}

/** The manifest with the annotation to recreate it, in place of any other deploy strategy. */
export function requireRecreate(manifest: Manifest): Manifest {
  return changeObject(manifest, ['metadata', 'annotations'], (annotations) => ({
    ...Object.fromEntries(Object.entries(annotations).filter(([key]) => !methodKeys.includes(key))),
    [annotationKeys.recreate]: 'true',
  }));
}

/** The manifest with another number of replicas. */
export function setReplicas(manifest: Manifest, replicas: number): Manifest {
  return changeObject(manifest, ['spec'], (spec) => ({ ...spec, replicas }));
}

/** The method by precedence: an object with a generated name can only be created; then recreate, replace, server-side apply, apply. */
function chooseMethod(manifest: Manifest): DeployMethod {
  if (readGenerateName(manifest) !== undefined) return 'create';
  if (readFlagAnnotation(manifest, annotationKeys.recreate)) return 'recreate';
  if (readFlagAnnotation(manifest, annotationKeys.replace)) return 'replace';
  return isAppliedByServer(manifest) ? 'serverSideApply' : 'apply';
}

/** Whether the annotation asks for a server-side apply, with or without force. */
function isAppliedByServer(manifest: Manifest): boolean {
  const text = readTextAnnotation(manifest, annotationKeys.serverSideApply);
  return text?.toLowerCase() === 'true' || text === 'force-conflicts';
}
