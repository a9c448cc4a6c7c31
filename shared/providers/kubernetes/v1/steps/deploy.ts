import { FailedOperationError } from '#core/errors.ts';
import { formatServerGroupName } from '#core/frigga.ts';
import type { ServerGroupKind } from '../../account/v1-rules.ts';
import type { Manifest } from '../../api/manifest.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildReplicaSet, buildReplicationController, type ServerGroupPlan } from '../build/controller.ts';
import { type DeployDescription, usesSourceCapacity } from '../descriptions/server-group.ts';
import { findSetKind } from '../descriptions/set.ts';
import { chooseNextSequence } from '../naming/next-sequence.ts';
import {
  type Complete,
  chooseReplicas,
  createPlan,
  type DeployResult,
  deployAutoscaler,
  deployDeployment,
  toClusterName,
  toDeployResult,
} from './deploy-parts.ts';
import { deploySet } from './deploy-set.ts';
import { chooseNamespace } from './namespace.ts';
import { listServerGroups } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';
import { createAnnotations, createOnce } from './write-object.ts';

/** How many names in a row others may take while a server group is created. */
export const nameAttemptsMax = 20;

/** Spinnaker's words for what is created. */
const words = {
  ReplicaSet: {
    what: 'replica set',
    title: 'Replica set',
    before: ['Building replica set...'],
    after: (name: string) => [`Deployed replica set ${name}`],
  },
  ReplicationController: {
    what: 'replication controller',
    title: 'Replication controller',
    before: ['Setting replication controller spec labels...', 'Adding image pull secrets... '],
    after: (name: string) => [
      'Sending replication controller spec to the Kubernetes master.',
      `Finished creating replication controller ${name}.`,
    ],
  },
} as const;

/** The decisions of an attempt to create a server group, which its repeats follow. */
type Choice = {
  readonly name: string;
  /** The previous server group; null if there is none, or if it was not looked up. */
  readonly ancestor: string | null;
  readonly replicas: number;
  /** Distinguishes what this attempt creates from what others create. */
  readonly creation: string;
};

/**
 * Creates the next server group of a cluster, with its Deployment and autoscaler, if any. If another client takes the name meanwhile, it
 * uses the next one.
 *
 * @param complete called before each write. Default: adds nothing.
 * @throws FailedOperationError in Spinnaker's words, or with those of the API server.
 */
export async function deployServerGroup(
  description: DeployDescription,
  work: V1Work,
  complete: Complete = async (controller) => controller,
): Promise<DeployResult> {
  const { run } = work;
  const setKind = findSetKind(description.kind);
  if (setKind !== undefined) return deploySet({ kind: setKind, description, complete }, work);
  const kind = chooseKind(description, work);
  run.report(`Initializing creation of ${words[kind].what}.`);
  const namespace = chooseNamespace([description.source?.namespace, description.namespace], work);
  const target = { kind, namespace, description, complete };
  for (let attempt = 0; attempt < nameAttemptsMax; attempt += 1) {
    const choice = await chooseName(target, attempt, work);
    const { name, replicas, creation } = choice;
    const annotations = createAnnotations(creation);
    const plan = createPlan({ name, namespace, replicas, description, annotations }, work);
    if (!(await createController(target, { plan, choice, attempt }, work))) continue;
    await deployDeployment(plan, complete, work);
    await deployAutoscaler({ plan, kind, creation }, work);
    return toDeployResult(namespace, choice.name, choice.ancestor);
  }
  throw new FailedOperationError(
    `Creating a server group of cluster ${toClusterName(description)} in ${namespace} failed: others took its name ${nameAttemptsMax} times in a row`,
  );
}

interface Target {
  readonly kind: ServerGroupKind;
  readonly namespace: string;
  readonly description: DeployDescription;
  readonly complete: Complete;
}

/** A Deployment creates only ReplicaSets. */
function chooseKind({ kind, deployment }: DeployDescription, { account, session }: V1Work): ServerGroupKind {
  if (deployment?.enabled) return 'ReplicaSet';
  if (kind === 'ReplicaSet' || kind === 'ReplicationController') return kind;
  return account.v1.serverGroupKind ?? session.settings.v1ServerGroupKind;
}

async function chooseName(target: Target, attempt: number, work: V1Work): Promise<Choice> {
  const { namespace, description } = target;
  const { run, session } = work;
  const cluster = toClusterName(description);
  if (usesSourceCapacity(description))
    run.report(`Searching for ancestor server group ${description.source?.serverGroupName}...`);
  run.report(`Looking up next sequence index for cluster ${cluster}...`);
  return run.decide(`name/${attempt}`, async (): Promise<Choice> => {
    const replicas = await chooseReplicas(description, namespace, work);
    const creation = session.randomness.id();
    const { sequence } = description;
    if (sequence !== undefined)
      return { name: formatServerGroupName(cluster, sequence), ancestor: null, replicas, creation };
    const next = chooseNextSequence(await listServerGroups(namespace, work), { cluster, namespace });
    const name = formatServerGroupName(cluster, next.sequence);
    return { name, ancestor: next.ancestor ?? null, replicas, creation };
  });
}

/** False if another object has taken the name. */
async function createController(
  { kind, namespace, description, complete }: Target,
  {
    plan,
    choice,
    attempt,
  }: { readonly plan: ServerGroupPlan; readonly choice: Choice; readonly attempt: number },
  work: V1Work,
): Promise<boolean> {
  const { run } = work;
  const { name, ancestor, replicas } = choice;
  const { title, what, before, after } = words[kind];
  if (ancestor !== null) run.report(`Found ancestor server group, parsing details (name: ${ancestor})`);
  run.report(`${title} name chosen to be ${name}.`);
  run.report(`Setting target size to ${replicas}...`);
  for (const line of before) run.report(line);
  const built: Manifest = kind === 'ReplicaSet' ? buildReplicaSet(plan) : buildReplicationController(plan);
  const outcome = await run.step(`create/${attempt}`, () =>
    explainFailure(`Creating ${what} ${name} in namespace ${namespace}`, async () =>
      createOnce({ kind, namespace, manifest: await complete(built) }, work),
    ),
  );
  if (outcome === 'created') {
    for (const line of after(name)) run.report(line);
    return true;
  }
  if (description.sequence === undefined) return false;
  throw new FailedOperationError(`Server group ${name} exists already in namespace ${namespace}`);
}
