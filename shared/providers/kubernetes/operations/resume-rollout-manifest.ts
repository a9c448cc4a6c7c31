import { FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { objectField } from '#settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { changeRollout, isPaused } from './rollout.ts';
import { defineOperation } from './steps/operation-definition.ts';
import { readTarget, targetShape, validateTarget } from './steps/target.ts';

/** Resumes a paused rollout, as `kubectl rollout resume` does. */
export const resumeRolloutManifest = defineOperation({
  name: 'resumeRolloutManifest',
  purpose: 'lets a paused rollout go on',
  operationClass: 'KubernetesResumeRolloutManifestOperation',
  phase: 'RESUME_ROLLOUT_KUBERNETES_MANIFEST',
  context: 'resumeRolloutKubernetesManifest',
  schema: objectField(targetShape),
  validate(description, validation) {
    validateTarget(description, validation, 'resumeRollout');
  },
  async run(description, work) {
    const change = { doing: 'Resuming the rollout of', done: 'Resumed the rollout of', plan: planResume };
    await changeRollout(readTarget(description), change, work);
    return undefined;
  },
});

function planResume(live: Manifest): JsonObject {
  if (!isPaused(live, 'resuming')) throw new FailedOperationError('it is not paused');
  return { paused: null };
}
