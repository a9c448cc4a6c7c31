import { mapConcurrently } from '#core/concurrency.ts';
import { FailedOperationError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import {
  checkRegistration,
  type RegistrationDescription,
  registrationField,
} from '../descriptions/instances.ts';
import { toLoadBalancerLabel } from '../naming/labels.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { findLive } from '../steps/server-group.ts';
import { podsAtATime, type SwitchedPods, switchPods } from '../steps/service-labels.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** Puts pods behind load balancers. */
export const registerInstances = defineRegistration({
  name: 'registerInstancesWithLoadBalancer',
  purpose: 'puts pods behind load balancers',
  verb: 'register',
  gerund: 'registering',
  isEnabled: true,
});

/** Removes pods from load balancers; they keep running. */
export const deregisterInstances = defineRegistration({
  name: 'deregisterInstancesFromLoadBalancer',
  purpose: 'takes pods from behind load balancers',
  verb: 'deregister',
  gerund: 'deregistering',
  isEnabled: false,
});

/** What differs between the two directions. */
interface Direction {
  readonly name: string;
  readonly purpose: string;
  readonly verb: 'register' | 'deregister';
  readonly gerund: 'registering' | 'deregistering';
  readonly isEnabled: boolean;
}

function defineRegistration(direction: Direction) {
  const { name, purpose, verb } = direction;
  return defineOperation(kubernetesV1, {
    name,
    purpose,
    operationClass: `${verb === 'register' ? 'Register' : 'Deregister'}KubernetesAtomicOperation`,
    phase: verb.toUpperCase(),
    schema: registrationField,
    validate: checkRegistration,
    run: (description, work) => runRegistration(description, direction, work),
  });
}

async function runRegistration(
  description: RegistrationDescription,
  { verb, gerund, isEnabled }: Direction,
  work: V1Work,
): Promise<undefined> {
  const { run } = work;
  run.report(`Initializing ${verb} operation...`);
  const namespace = chooseNamespace([description.namespace], work);
  run.report('Setting new service labels from each pod...');
  const pods = await run.decide('target', () => findPods(description, { namespace, isEnabled }, work));
  await run.step('switch-pods', () => switchPods(pods, { namespace, isEnabled }, work));
  run.report(`Finished ${gerund} all pods.`);
  return undefined;
}

/** The named pods. One that is gone is behind no load balancer. @throws FailedOperationError if one to be registered is missing. */
async function findPods(
  { instanceIds, loadBalancerNames }: RegistrationDescription,
  { namespace, isEnabled }: { readonly namespace: string; readonly isEnabled: boolean },
  work: V1Work,
): Promise<SwitchedPods> {
  const names = [...new Set(instanceIds)];
  const found = await mapConcurrently(names, podsAtATime, async (name) => {
    const uid = readUid(await findLive('Pod', { namespace, name }, work));
    if (uid === undefined && isEnabled)
      throw new FailedOperationError(`Pod ${name} does not exist in namespace ${namespace}`);
    return uid === undefined ? [] : [{ name, uid }];
  });
  const pods = found.flat();
  return { labels: [...new Set(loadBalancerNames)].map(toLoadBalancerLabel), pods };
}
