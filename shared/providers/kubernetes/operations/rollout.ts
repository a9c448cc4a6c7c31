import type { V1Deployment } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { objectField } from '#settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { readKind } from '../manifest/identity.ts';
import { patchSame } from './patches.ts';
import { readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import {
  getLiveTarget,
  getTargetRef,
  readTarget,
  type TargetDescription,
  targetShape,
  validateTarget,
} from './steps/target.ts';
import { kubernetesV2, type OperationWork } from './steps/v2-operation.ts';

const schema = objectField(targetShape);

/** Pauses a rollout, as `kubectl rollout pause` does: changes of the pod template wait until it is resumed. */
export const pauseRolloutManifest = defineOperation(kubernetesV2, {
  name: 'pauseRolloutManifest',
  purpose: 'stops a rollout for the time being',
  operationClass: 'KubernetesPauseRolloutManifestOperation',
  phase: 'PAUSE_ROLLOUT_KUBERNETES_MANIFEST',
  context: 'pauseRolloutKubernetesManifest',
  schema,
  validate: (description, validation) => validateTarget(description, validation, 'pauseRollout'),
  run(description, work) {
    const plan = (live: Manifest): JsonObject => {
      if (isPaused(live, 'pausing')) throw new FailedOperationError('it is already paused');
      return { paused: true };
    };
    const words = { doing: 'Pausing the rollout of', done: 'Paused the rollout of' };
    return changeRollout(description, { ...words, plan }, work);
  },
});

/** Resumes a paused rollout, as `kubectl rollout resume` does. */
export const resumeRolloutManifest = defineOperation(kubernetesV2, {
  name: 'resumeRolloutManifest',
  purpose: 'lets a paused rollout go on',
  operationClass: 'KubernetesResumeRolloutManifestOperation',
  phase: 'RESUME_ROLLOUT_KUBERNETES_MANIFEST',
  context: 'resumeRolloutKubernetesManifest',
  schema,
  validate: (description, validation) => validateTarget(description, validation, 'resumeRollout'),
  run(description, work) {
    const plan = (live: Manifest): JsonObject => {
      if (!isPaused(live, 'resuming')) throw new FailedOperationError('it is not paused');
      return { paused: null };
    };
    const words = { doing: 'Resuming the rollout of', done: 'Resumed the rollout of' };
    return changeRollout(description, { ...words, plan }, work);
  },
});

/** The annotation by which `kubectl rollout restart` changes a pod template. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

/** Replaces all pods of a workload, as `kubectl rollout restart` does: its pod template gets the time of the restart. */
export const rollingRestartManifest = defineOperation(kubernetesV2, {
  name: 'rollingRestartManifest',
  purpose: 'makes all pods anew, bit by bit',
  operationClass: 'KubernetesRollingRestartManifestOperation',
  phase: 'ROLLING_RESTART_KUBERNETES_MANIFEST',
  context: 'rollingRestartKubernetesManifest',
  schema,
  validate: (description, validation) => validateTarget(description, validation, 'rollingRestart'),
  run(description, work) {
    const { clock } = work.session;
    const plan = (live: Manifest): JsonObject => planRestart(live, formatSecond(clock.now()));
    return changeRollout(description, { doing: 'Restarting', done: 'Restarted', plan }, work);
  },
});

/** A change of a workload's rollout. */
interface RolloutChange {
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
async function changeRollout(
  description: TargetDescription,
  { doing, done, plan }: RolloutChange,
  work: OperationWork,
): Promise<undefined> {
  const { run } = work;
  const target = readTarget(description);
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
  return undefined;
}

/**
 * Whether the rollout of a Deployment is paused.
 *
 * @param doing what the operation is doing: `pausing`.
 * @throws FailedOperationError for DaemonSets and StatefulSets: Clouddriver accepts the request, but Kubernetes cannot do it.
 */
function isPaused(live: Manifest, doing: string): boolean {
  const kind = readKind(live);
  if (kind === 'deployment') return asUnchecked<V1Deployment>(live).spec?.paused === true;
  throw new FailedOperationError(`${doing} a ${kind} is not supported: only a deployment can be paused`);
}

/** @throws FailedOperationError if it is paused, or was restarted within the same second. */
function planRestart(live: Manifest, second: string): JsonObject {
  const { spec } = asUnchecked<V1Deployment>(live);
  if (spec?.paused === true) {
    throw new FailedOperationError('it is paused: resume its rollout first');
  }
  if (getPath(spec?.template?.metadata?.annotations, restartedAt) === second) {
    throw new FailedOperationError('it was restarted within the same second: wait a moment, then try again');
  }
  return { template: { metadata: { annotations: { [restartedAt]: second } } } };
}

/** A time in whole seconds (RFC 3339, UTC). @param ms wall time in milliseconds. */
function formatSecond(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
