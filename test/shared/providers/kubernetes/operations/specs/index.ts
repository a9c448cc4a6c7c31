import { cleanupArtifacts } from './cleanup-artifacts.ts';
import { deleteManifest } from './delete-manifest.ts';
import { deployManifest } from './deploy-manifest.ts';
import { disableManifest } from './disable-manifest.ts';
import { enableManifest } from './enable-manifest.ts';
import { patchManifest } from './patch-manifest.ts';
import { pauseRolloutManifest } from './pause-rollout-manifest.ts';
import { resizeServerGroup } from './resize-server-group.ts';
import { resumeRolloutManifest } from './resume-rollout-manifest.ts';
import { rollingRestartManifest } from './rolling-restart-manifest.ts';
import { runJob } from './run-job.ts';
import { scaleManifest } from './scale-manifest.ts';
import type { KubernetesOperationSpec } from './spec.ts';
import { undoRolloutManifest } from './undo-rollout-manifest.ts';

/** The specification of each Kubernetes operation, by its name. */
export const operationSpecs: ReadonlyMap<string, KubernetesOperationSpec> = new Map(
  Object.entries({
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
  }),
);
