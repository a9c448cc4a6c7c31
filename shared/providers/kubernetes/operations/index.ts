import type { OperationDefinition } from '#provider-kit/operation-definition.ts';
import type { KubernetesSession } from '../account/session.ts';
import { cleanupArtifacts } from './cleanup-artifacts.ts';
import { deleteManifest } from './delete-manifest.ts';
import { deployManifest } from './deploy-manifest.ts';
import { patchManifest } from './patch-manifest.ts';
import { resizeServerGroup } from './resize-server-group.ts';
import { pauseRolloutManifest, resumeRolloutManifest, rollingRestartManifest } from './rollout.ts';
import { runJob } from './run-job.ts';
import { scaleManifest } from './scale-manifest.ts';
import { disableManifest, enableManifest } from './traffic.ts';
import { undoRolloutManifest } from './undo-rollout-manifest.ts';

/** The operations of Kubernetes accounts, one line each. */
export const operationDefinitions: readonly OperationDefinition<KubernetesSession>[] = [
  deployManifest,
  scaleManifest,
  deleteManifest,
  patchManifest,
  cleanupArtifacts,
  undoRolloutManifest,
  pauseRolloutManifest,
  resumeRolloutManifest,
  rollingRestartManifest,
  enableManifest,
  disableManifest,
  resizeServerGroup,
  runJob,
];
