import { FailedOperationError } from '#core/errors.ts';
import { parseServerGroupName } from '#core/frigga.ts';
import { defineOperation, inPhase } from '#provider-kit/operation-definition.ts';
import type { Manifest } from '../../api/manifest.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { inheritTemplate } from '../build/inherit.ts';
import {
  checkClone,
  checkDeploy,
  type DeployDescription,
  deployField,
  usesSourceCapacity,
} from '../descriptions/server-group.ts';
import { deployServerGroup } from '../steps/deploy.ts';
import { getNamespace } from '../steps/namespace.ts';
import { findServerGroup, readReplicas, type ServerGroupName } from '../steps/server-group.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** Creates a server group: the next one of its cluster. */
export const createServerGroup = defineOperation(kubernetesV1, {
  name: 'createServerGroup',
  purpose: 'creates the next server group of a cluster',
  operationClass: 'DeployKubernetesAtomicOperation',
  phase: 'DEPLOY',
  schema: deployField,
  validate: checkDeploy,
  run: (description, work) => deployServerGroup(description, work),
});

/** Creates a copy of another server group, with the description's changes. */
export const cloneServerGroup = defineOperation(kubernetesV1, {
  name: 'cloneServerGroup',
  purpose: 'creates a server group that is like another one, but for what the description says',
  operationClass: 'CloneKubernetesAtomicOperation',
  phase: 'CLONE_SERVER_GROUP',
  schema: deployField,
  findSourceAccount: ({ source }) => source?.account,
  validate: checkClone,
  run: runClone,
});

/** The copied server group: exactly this one. Its pods' specification is read again when needed: it may hold secrets. */
type Source = { readonly uid: string; readonly replicas: number };

async function runClone(description: DeployDescription, work: V1Work): Promise<object> {
  const { run } = work;
  const { serverGroupName: name = '', namespace: given, region } = description.source ?? {};
  run.report(`Initializing copy of server group for ${name}...`);
  run.report(`Reading ancestor server group ${name}...`);
  const sourceWork = await work.openSource();
  const namespace = getNamespace([given, region], sourceWork);
  const where = { namespace, name };
  const { uid, replicas } = await run.decide('source', () => findSource(where, sourceWork));
  const merged = mergeDescription(description, where, replicas);
  const inheritsLoadBalancers = description.loadBalancers === undefined;
  const result = await deployServerGroup(
    merged,
    { ...work, run: inPhase(work.run, 'DEPLOY') },
    async (controller) =>
      inheritTemplate(controller, await getSource(where, uid, sourceWork), inheritsLoadBalancers),
  );
  run.report(`Finished copying server group for ${name}.`);
  const [made] = result.serverGroupNames;
  run.report(`Finished copying server group for ${name}. New server group = ${made}.`);
  return result;
}

async function findSource(where: ServerGroupName, work: V1Work): Promise<Source> {
  const found = await findServerGroup(where, work);
  const uid = readUid(found?.live);
  if (found === undefined || uid === undefined) throw notFound(where);
  return { uid, replicas: readReplicas(found.live) };
}

async function getSource(where: ServerGroupName, uid: string, work: V1Work): Promise<Manifest> {
  const found = await findServerGroup(where, work);
  if (found === undefined || readUid(found.live) !== uid) throw notFound(where);
  return found.live;
}

function notFound({ name }: ServerGroupName): FailedOperationError {
  return new FailedOperationError(`Source server group ${name} does not exist.`);
}

/** Omitted parts of the name, and an omitted size, are the source's. */
function mergeDescription(
  description: DeployDescription,
  { namespace, name }: ServerGroupName,
  replicas: number,
): DeployDescription {
  const { app, stack, detail } = parseServerGroupName(name);
  const { targetSize, capacity } = description;
  return {
    ...description,
    application: description.application || app,
    stack: description.stack ?? stack,
    freeFormDetails: description.freeFormDetails ?? detail,
    namespace: description.namespace || namespace,
    targetSize: usesSourceCapacity(description) ? replicas : (targetSize ?? capacity?.desired ?? replicas),
    source: undefined,
  };
}
