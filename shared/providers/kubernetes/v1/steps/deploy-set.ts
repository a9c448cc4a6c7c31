import { FailedOperationError } from '#core/errors.ts';
import { formatServerGroupName } from '#core/frigga.ts';
import type { Manifest } from '../../api/manifest.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildSet, changeSet } from '../build/set.ts';
import type { DeployDescription } from '../descriptions/server-group.ts';
import type { SetKind } from '../descriptions/set.ts';
import {
  type Complete,
  chooseReplicas,
  createPlan,
  type DeployResult,
  deployAutoscaler,
  toClusterName,
  toDeployResult,
} from './deploy-parts.ts';
import { chooseNamespace } from './namespace.ts';
import { recreatePods } from './recreate-pods.ts';
import { findLive, type ServerGroupName } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';
import { createAnnotations, createOnce, upsertObject } from './write-object.ts';

/** Spinnaker's words for what is created. */
const words = { StatefulSet: 'stateful set', DaemonSet: 'daemon set' } as const;

/** The decisions of a deploy, which its repeats follow. */
type Choice = {
  /** Whether it exists already, and will be changed. */
  readonly isUpdate: boolean;
  readonly replicas: number;
  /** Distinguishes what this operation creates from what others create. */
  readonly creation: string;
};

/** The set to create or change. */
interface Target extends ServerGroupName {
  readonly kind: SetKind;
  readonly description: DeployDescription;
  readonly complete: Complete;
}

/**
 * Creates a StatefulSet or DaemonSet, named after its cluster unless the description chooses a number. Changes an existing one if
 * `updateController` is enabled.
 *
 * @throws FailedOperationError if it exists and may not be changed, or with the API server's words.
 */
export async function deploySet(
  target: Pick<Target, 'kind' | 'description' | 'complete'>,
  work: V1Work,
): Promise<DeployResult> {
  const { run } = work;
  const { kind, description } = target;
  run.report(`Initializing creation of ${words[kind]}.`);
  const namespace = chooseNamespace([description.source?.namespace, description.namespace], work);
  const cluster = toClusterName(description);
  const { sequence } = description;
  const name = sequence === undefined ? cluster : formatServerGroupName(cluster, sequence);
  const set = { ...target, namespace, name };
  const choice = await run.decide('set', () => choose(set, work));
  run.report(`Building ${words[kind]}...`);
  await (choice.isUpdate ? update(set, choice, work) : create(set, choice, work));
  const { replicas, creation } = choice;
  // A DaemonSet has as many pods as there are nodes.
  if (kind === 'StatefulSet') {
    const plan = createPlan({ name, namespace, replicas, description, annotations: {} }, work);
    await deployAutoscaler({ plan, kind, creation }, work);
  }
  return toDeployResult(namespace, name, null);
}

async function choose(set: Target, work: V1Work): Promise<Choice> {
  const { kind, namespace, description } = set;
  const mayUpdate = description.updateController?.enabled === true;
  const isUpdate = mayUpdate && (await findLive(kind, set, work)) !== undefined;
  const replicas = kind === 'DaemonSet' ? 0 : await chooseReplicas(description, namespace, work);
  return { isUpdate, replicas, creation: work.session.randomness.id() };
}

async function create(set: Target, { replicas, creation }: Choice, work: V1Work): Promise<void> {
  const { run } = work;
  const { kind, namespace, name } = set;
  const outcome = await run.step('create', () =>
    explainFailure(`Creating ${words[kind]} ${name} in namespace ${namespace}`, async () => {
      const manifest = await build(set, { replicas, annotations: createAnnotations(creation) }, work);
      return createOnce({ kind, namespace, manifest }, work);
    }),
  );
  if (outcome === 'taken')
    throw new FailedOperationError(`Server group ${name} exists already in namespace ${namespace}`);
  run.report(`Deployed ${words[kind]} ${name}`);
}

async function update(set: Target, { replicas }: Choice, work: V1Work): Promise<void> {
  const { run } = work;
  const { kind, namespace, name, description } = set;
  run.report(`Update ${words[kind]} ${name}`);
  await run.step('update', () =>
    explainFailure(`Updating ${words[kind]} ${name} in namespace ${namespace}`, async () => {
      const manifest = await build(set, { replicas, annotations: {} }, work);
      const change = (live?: Manifest): Manifest =>
        live === undefined ? manifest : changeSet(live, manifest);
      return upsertObject({ kind, namespace, name, build: change }, work);
    }),
  );
  if (description.updateController?.updateStrategy?.type === 'Recreate') await recreatePods(set, work);
}

function build(
  { kind, name, namespace, description, complete }: Target,
  {
    replicas,
    annotations,
  }: { readonly replicas: number; readonly annotations: Readonly<Record<string, string>> },
  work: V1Work,
): Promise<Manifest> {
  const plan = createPlan({ name, namespace, replicas, description, annotations }, work);
  return complete(buildSet(kind, plan));
}
