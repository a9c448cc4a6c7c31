import { FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { objectField } from '#settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { changeRollout, isPaused } from './rollout.ts';
import { defineOperation } from './steps/operation-definition.ts';
import { readTarget, targetShape, validateTarget } from './steps/target.ts';

/** Pauses a rollout, as `kubectl rollout pause` does: changes of the pod template wait until it is resumed. */
export const pauseRolloutManifest = defineOperation({
  name: 'pauseRolloutManifest',
  purpose: 'stops a rollout for the time being',
  operationClass: 'KubernetesPauseRolloutManifestOperation',
  phase: 'PAUSE_ROLLOUT_KUBERNETES_MANIFEST',
  context: 'pauseRolloutKubernetesManifest',
  schema: objectField(targetShape),
  validate(description, validation) {
    validateTarget(description, validation, 'pauseRollout');
  },
  async run(description, work) {
    const change = { doing: 'Pausing the rollout of', done: 'Paused the rollout of', plan: planPause };
    await changeRollout(readTarget(description), change, work);
    return undefined;
  },
});

function planPause(live: Manifest): JsonObject {
  if (isPaused(live, 'pausing')) throw new FailedOperationError('it is already paused');
  return { paused: true };
}
