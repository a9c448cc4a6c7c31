import { FailedOperationError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { checkSwitch, type SwitchDescription, switchField } from '../descriptions/server-group.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { findAnyServerGroup, type ServerGroupName } from '../steps/server-group.ts';
import { choosePods, switchPods, switchTemplate } from '../steps/service-labels.ts';
import { describeUnsettled } from '../steps/settled-controller.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** What differs between the two directions. */
interface Direction {
  readonly verb: 'enable' | 'disable';
  readonly gerund: 'enabling' | 'disabling';
  readonly isEnabled: boolean;
}

/** Puts the pods of a server group behind its load balancers. */
export const enableServerGroup = defineSwitch(
  { verb: 'enable', gerund: 'enabling', isEnabled: true },
  'puts the pods of a server group behind its load balancers',
);

/** Removes the pods of a server group from its load balancers; they keep running. */
export const disableServerGroup = defineSwitch(
  { verb: 'disable', gerund: 'disabling', isEnabled: false },
  'takes the pods of a server group from behind its load balancers',
);

function defineSwitch(direction: Direction, purpose: string) {
  const { verb } = direction;
  const title = verb === 'enable' ? 'Enable' : 'Disable';
  return defineOperation(kubernetesV1, {
    name: `${verb}ServerGroup`,
    purpose,
    operationClass: `${title}KubernetesAtomicOperation`,
    phase: verb.toUpperCase(),
    schema: switchField,
    validate: checkSwitch,
    run: (description, work) => runSwitch(description, direction, work),
  });
}

async function runSwitch(
  description: SwitchDescription,
  { verb, gerund, isEnabled }: Direction,
  work: V1Work,
): Promise<undefined> {
  const { run } = work;
  const name = description.serverGroupName ?? '';
  const percentage = description.desiredPercentage ?? 100;
  run.report(`Initializing ${verb} operation for ${name}...`);
  const namespace = chooseNamespace([description.namespace, description.region], work);
  run.report('Finding requisite server group...');
  const target = await run.decide('target', () => chooseTarget(description, { namespace, name }, work));
  if (target === null) {
    run.report(`Skip disable/enable StatefuSet server group ${name} in ${namespace}.`);
    return undefined;
  }
  const where = { ...target, namespace, name };
  if (isEnabled || percentage === 100) {
    run.report('Getting list of attached services...');
    run.report('Resetting server group service template labels and selectors...');
    await run.step('switch-template', () => switchTemplate(where, isEnabled, work));
  }
  const pods = await run.decide('choose-pods', () => choosePods(where, { isEnabled, percentage }, work));
  if (!pods.isSettled) run.report(describeUnsettled(name));
  if (pods.total === 0) {
    run.report(`No pods to ${verb}. Operation finshed successfully.`);
    return undefined;
  }
  run.report('Resetting service labels for each pod...');
  run.report(`Operating on ${percentage}% of pods`);
  await run.step('switch-pods', () => switchPods(pods, { namespace, isEnabled }, work));
  run.report(`Finished ${gerund} server group ${name}.`);
  return undefined;
}

/** Null for a kind whose server groups are never switched. */
async function chooseTarget(
  { kind }: SwitchDescription,
  where: ServerGroupName,
  work: V1Work,
): Promise<{ kind: 'ReplicationController' | 'ReplicaSet'; uid: string } | null> {
  const found = await findAnyServerGroup(where, kind, work);
  if (found?.kind === 'StatefulSet' || found?.kind === 'DaemonSet') return null;
  const uid = found && readUid(found.live);
  if (found !== undefined && uid !== undefined) return { kind: found.kind, uid };
  throw new FailedOperationError(
    `Only support operation for replication controller or replica set ${where.name} in ${where.namespace}.`,
  );
}
