import { deployManifest } from './deploy-manifest.ts';
import type { OperationDefinition } from './operation-definition.ts';

/** The operations of Kubernetes accounts, one line each. */
export const operationDefinitions: readonly OperationDefinition[] = [deployManifest];
