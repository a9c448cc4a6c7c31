import type { DeployDescription } from '../descriptions/server-group.ts';
import { deployField } from '../descriptions/server-group.ts';
import { checkDeploy } from '../descriptions/server-group-rules.ts';
import { deployServerGroup } from '../steps/deploy.ts';
import { defineV1Operation, type V1Work } from '../steps/v1-operation.ts';

/** Creates a server group: the next one of its cluster. */
export const createServerGroup = defineV1Operation({
  name: 'createServerGroup',
  purpose: 'creates the next server group of a cluster',
  operationClass: 'DeployKubernetesAtomicOperation',
  phase: 'DEPLOY',
  prefix: 'deployKubernetesAtomicOperationDescription',
  schema: deployField,
  check: checkDeploy,
  run: runCreate,
});

function runCreate(description: DeployDescription, work: V1Work): Promise<object> {
  return deployServerGroup(description, work);
}
