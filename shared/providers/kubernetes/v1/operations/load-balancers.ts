import { defineOperation } from '#provider-kit/operation-definition.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildService } from '../build/service.ts';
import {
  checkDeleteLoadBalancer,
  checkLoadBalancer,
  type DeleteLoadBalancerDescription,
  deleteLoadBalancerField,
  type LoadBalancerDescription,
  loadBalancerField,
  readLoadBalancerName,
} from '../descriptions/load-balancer.ts';
import { deleteNamed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { findLive } from '../steps/server-group.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';
import { upsertObject } from '../steps/write-object.ts';

/** Creates or changes a load balancer, which is a Service. */
export const upsertLoadBalancer = defineOperation(kubernetesV1, {
  name: 'upsertLoadBalancer',
  purpose: 'creates or changes a load balancer, which is a Service',
  operationClass: 'UpsertKubernetesLoadBalancerAtomicOperation',
  phase: 'UPSERT_LOAD_BALANCER',
  schema: loadBalancerField,
  validate: checkLoadBalancer,
  run: runUpsert,
});

/** Deletes a load balancer. */
export const deleteLoadBalancer = defineOperation(kubernetesV1, {
  name: 'deleteLoadBalancer',
  purpose: 'deletes a load balancer',
  operationClass: 'DeleteKubernetesLoadBalancerAtomicOperation',
  phase: 'DESTROY_LOAD_BALANCER',
  schema: deleteLoadBalancerField,
  validate: checkDeleteLoadBalancer,
  run: runDelete,
});

async function runDelete(description: DeleteLoadBalancerDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.loadBalancerName ?? '';
  run.report(`Initializing delete of load balancer ${name}...`);
  const namespace = chooseNamespace([description.namespace], work);
  await deleteNamed({ kind: 'Service', namespace, name, step: 'delete' }, work);
  run.report(`Successfully deleted load balancer ${name}.`);
}

/** What Spinnaker reports before it writes. */
const lines = [
  'Setting name, label selectors, & annotations...',
  'Adding ports...',
  'Adding external IPs...',
  'Setting type...',
  'Setting load balancer IP...',
  'Setting cluster IP...',
  'Setting session affinity...',
];

async function runUpsert(description: LoadBalancerDescription, work: V1Work): Promise<object> {
  const { run } = work;
  const name = readLoadBalancerName(description);
  run.report(`Initializing upsert of load balancer ${name}...`);
  const namespace = chooseNamespace([description.namespace], work);
  run.report('Looking up existing load balancer...');
  const isThere = await run.decide('look', async () => {
    const live = await findLive('Service', { namespace, name }, work);
    return live !== undefined;
  });
  if (isThere) run.report(`Found existing load balancer with name ${name}.`);
  for (const line of lines) run.report(line);
  await run.step('upsert', () =>
    explainFailure(`Upserting load balancer ${name} in namespace ${namespace}`, () =>
      upsertObject(
        { kind: 'Service', namespace, name, build: (live) => buildService(description, namespace, live) },
        work,
      ),
    ),
  );
  run.report(`Finished upserting load balancer ${name}.`);
  return { loadBalancers: { [namespace]: { name } } };
}
