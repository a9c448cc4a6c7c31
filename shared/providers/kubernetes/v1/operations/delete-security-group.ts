import {
  checkDeleteSecurityGroup,
  type DeleteSecurityGroupDescription,
  deleteSecurityGroupField,
} from '../descriptions/security-group.ts';
import { deleteDoomed, findDoomed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { defineV1Operation, type V1Work } from '../steps/v1-operation.ts';

/** Deletes a security group. */
export const deleteSecurityGroup = defineV1Operation({
  name: 'deleteSecurityGroup',
  purpose: 'deletes a security group, which is an Ingress',
  operationClass: 'DeleteKubernetesSecurityGroupAtomicOperation',
  // The phase of an upsert, as in Clouddriver.
  phase: 'UPSERT_SECURITY_GROUP',
  prefix: 'deleteKubernetesSecurityGroupDescription',
  schema: deleteSecurityGroupField,
  check: checkDeleteSecurityGroup,
  run: runDelete,
});

async function runDelete(description: DeleteSecurityGroupDescription, work: V1Work): Promise<undefined> {
  const { run, session } = work;
  const name = description.securityGroupName ?? '';
  run.report('Initializing delete of ingress.');
  const namespace = chooseNamespace([description.namespace], work);
  const { doomed, decidedAtMs } = await run.decide('target', async () => ({
    doomed: await findDoomed('Ingress', { namespace, name }, work),
    decidedAtMs: session.clock.now(),
  }));
  // A missing one counts as deleted.
  if (doomed !== null)
    await run.step('delete', () => deleteDoomed([doomed], { namespace, decidedAtMs }, work));
  run.report(`Successfully deleted ${name} in ${namespace}.`);
  return undefined;
}
