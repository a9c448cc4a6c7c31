import { defineOperation } from '#provider-kit/operation-definition.ts';
import { annotationKeys, readTextAnnotation } from '../../manifest/annotations.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { getClusterName } from '../build/controller.ts';
import { checkServerGroup, destroyField, type ServerGroupDescription } from '../descriptions/server-group.ts';
import { type Doomed, deleteDoomed, findDoomed, toDoomed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { findAnyServerGroup, findLive, type ServerGroupName } from '../steps/server-group.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** Deletes a server group with its pods, its autoscaler and the Deployment that would recreate it. */
export const destroyServerGroup = defineOperation(kubernetesV1, {
  name: 'destroyServerGroup',
  purpose: 'deletes a server group with its pods',
  operationClass: 'DestroyKubernetesAtomicOperation',
  phase: 'DESTROY',
  schema: destroyField,
  validate: checkServerGroup,
  run: runDestroy,
});

/** Everything to delete with a server group; null for what is missing, or stays. */
type Destruction = {
  readonly serverGroup: Doomed | null;
  /** The name of the Deployment that was checked, whether it is deleted or not. */
  readonly cluster: string | null;
  readonly deployment: Doomed | null;
  readonly autoscaler: Doomed | null;
  /** Wall time of the decision, milliseconds. */
  readonly decidedAtMs: number;
};

async function runDestroy(description: ServerGroupDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.serverGroupName ?? '';
  run.report('Initializing destroy of server group.');
  const namespace = chooseNamespace([description.namespace, description.region], work);
  const destruction = await run.decide('target', () => chooseDoomed(description, { namespace, name }, work));
  const { cluster, deployment, autoscaler, serverGroup, decidedAtMs } = destruction;
  const destroy = (doomed: Doomed): Promise<null> =>
    run.step(`destroy/${doomed.kind}`, () => deleteDoomed([doomed], { namespace, decidedAtMs }, work));
  if (cluster !== null) run.report(`Checking if deployment ${cluster} needs to be destroyed...`);
  if (deployment !== null) {
    run.report(`Destroying deployment ${cluster}...`);
    await destroy(deployment);
    run.report(`Successfully destroyed deployment ${cluster}...`);
  }
  if (autoscaler !== null) {
    run.report('Destroying autoscaler...');
    await destroy(autoscaler);
  }
  run.report('Destroying server group...');
  if (serverGroup !== null) {
    run.report(`Underlying kind is '${serverGroup.kind}'...`);
    await destroy(serverGroup);
  }
  run.report(`Successfully destroyed server group ${name}.`);
  return undefined;
}

async function chooseDoomed(
  { kind }: ServerGroupDescription,
  where: ServerGroupName,
  work: V1Work,
): Promise<Destruction> {
  const decidedAtMs = work.session.clock.now();
  const nothing = { serverGroup: null, cluster: null, deployment: null, autoscaler: null, decidedAtMs };
  const found = await findAnyServerGroup(where, kind, work);
  const serverGroup = found === undefined ? null : toDoomed(found.kind, where.name, readUid(found.live));
  const ownAutoscaler = await findDoomed('HorizontalPodAutoscaler', where, work);
  if (found?.kind !== 'ReplicaSet') return { ...nothing, serverGroup, autoscaler: ownAutoscaler };
  const cluster = getClusterName(where.name);
  const clusterWhere = { ...where, name: cluster };
  const live = cluster === where.name ? undefined : await findLive('Deployment', clusterWhere, work);
  if (live === undefined) return { ...nothing, serverGroup, autoscaler: ownAutoscaler };
  const revision = readTextAnnotation(live, annotationKeys.deploymentRevision);
  const isCurrent =
    revision !== undefined && revision === readTextAnnotation(found.live, annotationKeys.deploymentRevision);
  // A Deployment's autoscaler is deleted with it; otherwise it serves another server group.
  if (!isCurrent) return { ...nothing, serverGroup, cluster, autoscaler: ownAutoscaler };
  const autoscaler = await findDoomed('HorizontalPodAutoscaler', clusterWhere, work);
  const deployment = toDoomed('Deployment', cluster, readUid(live));
  return { ...nothing, serverGroup, cluster, deployment, autoscaler };
}
