import { defineOperation } from '#provider-kit/operation-definition.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildIngress } from '../build/ingress.ts';
import {
  checkDeleteSecurityGroup,
  checkSecurityGroup,
  type DeleteSecurityGroupDescription,
  deleteSecurityGroupField,
  type SecurityGroupDescription,
  securityGroupField,
} from '../descriptions/security-group.ts';
import { deleteNamed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';
import { upsertObject } from '../steps/write-object.ts';

/** Creates or changes a security group, which is an Ingress. */
export const upsertSecurityGroup = defineOperation(kubernetesV1, {
  name: 'upsertSecurityGroup',
  purpose: 'creates or changes a security group, which is an Ingress',
  operationClass: 'UpsertKubernetesSecurityGroupAtomicOperation',
  phase: 'UPSERT_SECURITY_GROUP',
  context: 'upsertKubernetesSecurityGroupDescription',
  schema: securityGroupField,
  validate: checkSecurityGroup,
  run: runUpsert,
});

/** Deletes a security group. */
export const deleteSecurityGroup = defineOperation(kubernetesV1, {
  name: 'deleteSecurityGroup',
  purpose: 'deletes a security group, which is an Ingress',
  operationClass: 'DeleteKubernetesSecurityGroupAtomicOperation',
  // The phase of an upsert, as in Clouddriver.
  phase: 'UPSERT_SECURITY_GROUP',
  context: 'deleteKubernetesSecurityGroupDescription',
  schema: deleteSecurityGroupField,
  validate: checkDeleteSecurityGroup,
  run: runDelete,
});

async function runDelete(description: DeleteSecurityGroupDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.securityGroupName ?? '';
  run.report('Initializing delete of ingress.');
  const namespace = chooseNamespace([description.namespace], work);
  await deleteNamed({ kind: 'Ingress', namespace, name, step: 'delete' }, work);
  run.report(`Successfully deleted ${name} in ${namespace}.`);
}

/** What Spinnaker reports before it writes. */
const lines = [
  'Looking up old ingress...',
  'Setting name, namespace, annotations & labels...',
  'Attaching requested service...',
  'Setting requested rules...',
];

async function runUpsert(description: SecurityGroupDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.securityGroupName ?? '';
  run.report('Initializing upsert of ingress.');
  const namespace = chooseNamespace([description.namespace], work);
  for (const line of lines) run.report(line);
  await run.step('upsert', () =>
    explainFailure(`Upserting ingress ${name} in namespace ${namespace}`, () =>
      upsertObject(
        { kind: 'Ingress', namespace, name, build: (live) => buildIngress(description, namespace, live) },
        work,
      ),
    ),
  );
  return undefined;
}
