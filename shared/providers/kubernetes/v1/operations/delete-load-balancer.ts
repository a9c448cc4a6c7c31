import {
  type DeleteLoadBalancerDescription,
  deleteLoadBalancerField,
} from '../descriptions/load-balancer.ts';
import { checkDeleteLoadBalancer } from '../descriptions/load-balancer-rules.ts';
import { deleteDoomed, findDoomed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { defineV1Operation, type V1Work } from '../steps/v1-operation.ts';

/** Deletes a load balancer. */
export const deleteLoadBalancer = defineV1Operation({
  name: 'deleteLoadBalancer',
  purpose: 'deletes a load balancer',
  operationClass: 'DeleteKubernetesLoadBalancerAtomicOperation',
  phase: 'DESTROY_LOAD_BALANCER',
  prefix: 'deleteKubernetesLoadBalancerAtomicOperationDescription',
  schema: deleteLoadBalancerField,
  check: checkDeleteLoadBalancer,
  run: runDelete,
});

async function runDelete(description: DeleteLoadBalancerDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.loadBalancerName ?? '';
  run.report(`Initializing delete of load balancer ${name}...`);
  const namespace = chooseNamespace([description.namespace], work);
  const { doomed, decidedAtMs } = await run.decide('target', async () => ({
    doomed: await findDoomed('Service', { namespace, name }, work),
    decidedAtMs: work.session.clock.now(),
  }));
  // A missing one counts as deleted.
  if (doomed !== null)
    await run.step('delete', () => deleteDoomed([doomed], { namespace, decidedAtMs }, work));
  run.report(`Successfully deleted load balancer ${name}.`);
  return undefined;
}
