import { cleanupArtifacts } from './cleanup-artifacts.ts';
import { deleteManifest } from './delete-manifest.ts';
import { deployManifest } from './deploy-manifest.ts';
import type { OperationDefinition } from './operation-definition.ts';
import { scaleManifest } from './scale-manifest.ts';

/** The operations of Kubernetes accounts, one line each. */
export const operationDefinitions: readonly OperationDefinition[] = [
  deployManifest,
  scaleManifest,
  deleteManifest,
  cleanupArtifacts,
];
