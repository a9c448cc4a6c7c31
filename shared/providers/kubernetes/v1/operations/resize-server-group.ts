import { FailedOperationError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { checkResize, type ResizeDescription, resizeField } from '../descriptions/server-group.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { findAnyServerGroup, findDeploymentName, getRef } from '../steps/server-group.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** Sets the number of pods of a server group. */
export const resizeServerGroup = defineOperation(kubernetesV1, {
  name: 'resizeServerGroup',
  purpose: 'sets the number of pods',
  operationClass: 'ResizeKubernetesAtomicOperation',
  phase: 'RESIZE',
  schema: resizeField,
  validate: checkResize,
  run: runResize,
});

const lines = {
  ReplicationController: 'Resizing replication controller...',
  ReplicaSet: 'Resizing replica set...',
  Deployment: 'Resizing deployment...',
  StatefulSet: 'Resizing stateful set...',
} as const;

/** The object that holds a server group's number of pods. */
type Scaled = { readonly kind: keyof typeof lines; readonly name: string };

async function runResize(description: ResizeDescription, work: V1Work): Promise<undefined> {
  const { run, client } = work;
  const name = description.serverGroupName ?? '';
  const replicas = description.capacity?.desired ?? 0;
  run.report(`Initializing resize of server group ${name}...`);
  const namespace = chooseNamespace([description.namespace, description.region], work);
  run.report(`Setting size to ${replicas}...`);
  const scaled = await run.decide('target', () => chooseScaled(description, { namespace, name }, work));
  run.report(lines[scaled.kind]);
  await run.step('resize', () =>
    explainFailure(`Resizing server group ${name} in namespace ${namespace}`, async () => {
      const body = { spec: { replicas } };
      const ref = getRef(scaled.kind, { namespace, name: scaled.name });
      await client.patch(ref, { type: 'merge', subresource: 'scale', body }, { signal: run.signal });
      return null;
    }),
  );
  run.report('Completed resize operation.');
  return undefined;
}

async function chooseScaled(
  { kind }: ResizeDescription,
  where: { readonly namespace: string; readonly name: string },
  work: V1Work,
): Promise<Scaled> {
  const found = await findAnyServerGroup(where, kind, work);
  if (found === undefined)
    throw new FailedOperationError(
      'Neither a replication controller nor a replica set could be found by that name.',
    );
  if (found.kind === 'DaemonSet') throw new FailedOperationError('Does not support resizing DaemoneSet.');
  const deployment = findDeploymentName(found.live);
  return deployment === undefined
    ? { kind: found.kind, name: where.name }
    : { kind: 'Deployment', name: deployment };
}
