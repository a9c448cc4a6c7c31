import type { V1Deployment } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { objectField } from '#settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { changeRollout } from './rollout.ts';
import { defineOperation } from './steps/operation-definition.ts';
import { readTarget, targetShape, validateTarget } from './steps/target.ts';

/** The annotation by which `kubectl rollout restart` changes a pod template. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

/** Replaces all pods of a workload, as `kubectl rollout restart` does: its pod template gets the time of the restart. */
export const rollingRestartManifest = defineOperation({
  name: 'rollingRestartManifest',
  purpose: 'makes all pods anew, bit by bit',
  operationClass: 'KubernetesRollingRestartManifestOperation',
  phase: 'ROLLING_RESTART_KUBERNETES_MANIFEST',
  context: 'rollingRestartKubernetesManifest',
  schema: objectField(targetShape),
  validate(description, validation) {
    validateTarget(description, validation, 'rollingRestart');
  },
  async run(description, work) {
    const { clock } = work.session;
    const plan = (live: Manifest): JsonObject => planRestart(live, formatSecond(clock.now()));
    await changeRollout(readTarget(description), { doing: 'Restarting', done: 'Restarted', plan }, work);
    return undefined;
  },
});

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
