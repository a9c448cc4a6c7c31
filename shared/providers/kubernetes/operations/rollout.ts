import type { V1Deployment } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { type Coordinates, readKind } from '../manifest/identity.ts';
import { patchSame } from './patch-same.ts';
import { readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import type { OperationWork } from './steps/operation-definition.ts';
import { getLiveTarget, getTargetRef } from './steps/target.ts';

/** A change of a workload's rollout. */
export interface RolloutChange {
  /** Begins messages about it: `Pausing`. */
  readonly doing: string;
  /** Begins the line about its success: `Paused`. */
  readonly done: string;
  /**
   * What to change in the `spec` of the live object, as a strategic merge patch.
   *
   * @throws FailedOperationError if there is no such change for the object's kind or state.
   */
  plan(live: Manifest): JsonObject;
}

/**
 * Changes a rollout as `kubectl rollout` does: reads the object, then patches it. The change is decided once: a repeat after a crash sends
 * the same to the same object, and recognizes its own earlier change.
 *
 * @throws FailedOperationError with the API server's words, or the change's.
 */
export async function changeRollout(
  target: Coordinates,
  { doing, done, plan }: RolloutChange,
  work: OperationWork,
): Promise<void> {
  const { run } = work;
  const what = describeObject(target);
  run.report(`${doing} ${what}`);
  await explainFailure(`${doing} ${what}`, async () => {
    const { uid, spec } = await run.decide('change', async () => {
      const live = await getLiveTarget(target, work);
      return { uid: readUid(live) ?? '', spec: plan(live) };
    });
    const ref = await getTargetRef(target, work);
    const patch = { type: 'strategic', fieldManager: 'kubectl-rollout', uid, body: { spec } } as const;
    await patchSame(ref, patch, work);
  });
  run.report(`${done} ${what}`);
}

/**
 * Whether the rollout of a Deployment is paused.
 *
 * @param doing what the operation is doing: `pausing`.
 * @throws FailedOperationError for DaemonSets and StatefulSets: Clouddriver accepts the request, but Kubernetes cannot do it.
 */
export function isPaused(live: Manifest, doing: string): boolean {
  const kind = readKind(live);
  if (kind === 'deployment') return asUnchecked<V1Deployment>(live).spec?.paused === true;
  throw new FailedOperationError(`${doing} a ${kind} is not supported: only a deployment can be paused`);
}
