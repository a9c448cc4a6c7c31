import { explainFailure } from '../../operations/steps/failure.ts';
import { buildIngress } from '../build/ingress.ts';
import {
  checkSecurityGroup,
  type SecurityGroupDescription,
  securityGroupField,
} from '../descriptions/security-group.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { upsertObject } from '../steps/upsert-object.ts';
import { defineV1Operation, type V1Work } from '../steps/v1-operation.ts';

/** Creates or changes a security group, which is an Ingress. */
export const upsertSecurityGroup = defineV1Operation({
  name: 'upsertSecurityGroup',
  purpose: 'creates or changes a security group, which is an Ingress',
  operationClass: 'UpsertKubernetesSecurityGroupAtomicOperation',
  phase: 'UPSERT_SECURITY_GROUP',
  prefix: 'upsertKubernetesSecurityGroupDescription',
  schema: securityGroupField,
  check: checkSecurityGroup,
  run: runUpsert,
});

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
