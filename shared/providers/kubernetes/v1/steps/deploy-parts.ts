import { FailedOperationError } from '#core/errors.ts';
import { formatClusterName } from '#core/frigga.ts';
import { asJsonObject } from '#core/json.ts';
import { listPullSecrets, type ServerGroupKind } from '../../account/v1-rules.ts';
import type { Manifest } from '../../api/manifest.ts';
import { readName } from '../../manifest/identity.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildAutoscaler } from '../build/autoscaler.ts';
import { getClusterName, type ServerGroupPlan } from '../build/controller.ts';
import { buildDeployment } from '../build/deployment.ts';
import { type DeployDescription, usesSourceCapacity } from '../descriptions/server-group.ts';
import { findLive, findServerGroup, readReplicas, resources, type V1Kind } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';
import { createAnnotations, upsertObject } from './write-object.ts';

/** What Orca reads of a new server group. */
export interface DeployResult {
  /** `namespace:name` */
  readonly serverGroupNames: readonly string[];
  readonly serverGroupNameByRegion: { readonly [namespace: string]: string };
  readonly ancestorServerGroupNameByRegion?: { readonly [namespace: string]: string };
}

/** Adds to a controller, or a Deployment, what its description omits. */
export type Complete = (controller: Manifest) => Promise<Manifest>;

/** The result for Orca of a created server group. @param ancestor the previous one; null for none */
export function toDeployResult(namespace: string, name: string, ancestor: string | null): DeployResult {
  return {
    serverGroupNames: [`${namespace}:${name}`],
    serverGroupNameByRegion: { [namespace]: name },
    ...(ancestor !== null && { ancestorServerGroupNameByRegion: { [namespace]: ancestor } }),
  };
}

/** The name of a description's cluster. */
export function toClusterName({ application = '', stack, freeFormDetails }: DeployDescription): string {
  return formatClusterName({ application, stack, detail: freeFormDetails });
}

/** The number of pods of a new server group. @throws FailedOperationError if it should copy the size of a missing one. */
export async function chooseReplicas(
  description: DeployDescription,
  namespace: string,
  work: V1Work,
): Promise<number> {
  const { targetSize, capacity, source } = description;
  if (!usesSourceCapacity(description)) return targetSize ?? capacity?.desired ?? 0;
  const name = source?.serverGroupName ?? '';
  const found = await findServerGroup({ namespace, name }, work);
  if (found !== undefined) return readReplicas(found.live);
  throw new FailedOperationError(`Source Server Group: ${name} does not exist in Namespace: ${namespace}!`);
}

/** A server group to be created, with the account's additions. */
export function createPlan(
  plan: Pick<ServerGroupPlan, 'name' | 'namespace' | 'replicas' | 'description' | 'annotations'>,
  { account, session }: V1Work,
): ServerGroupPlan {
  const pullSecrets = listPullSecrets(account.v1, plan.namespace);
  return { ...plan, pullSecrets, defaultRegistry: session.settings.defaultRegistry };
}

/** Updates the Deployment of a cluster, if it should have one, to a new server group's pods. */
export async function deployDeployment(
  plan: ServerGroupPlan,
  complete: Complete,
  work: V1Work,
): Promise<void> {
  if (plan.description.deployment?.enabled !== true) return;
  const { run } = work;
  const { namespace } = plan;
  const built = buildDeployment(plan);
  const name = readName(built);
  const isThere = await run.decide('deployment-look', async () => {
    const live = await findLive('Deployment', { namespace, name }, work);
    return live !== undefined;
  });
  run.report(isThere ? 'Updating deployment...' : 'Building deployment...');
  await run.step('deployment', () =>
    explainFailure(`Deploying deployment ${name} in namespace ${namespace}`, async () => {
      const manifest = await complete(built);
      const build = (live?: Manifest): Manifest => mergeInto(live, manifest);
      return upsertObject({ kind: 'Deployment', namespace, name, build }, work);
    }),
  );
  run.report(`Configured deployment ${name}`);
}

/** The requested autoscaler of a new server group. */
interface AutoscalerRequest {
  readonly plan: ServerGroupPlan;
  readonly kind: ServerGroupKind | 'StatefulSet';
  readonly creation: string;
}

/** Creates the autoscaler of a new server group, if requested, or changes an existing one of its name. */
export async function deployAutoscaler(
  { plan, kind, creation }: AutoscalerRequest,
  work: V1Work,
): Promise<void> {
  const { description, namespace } = plan;
  if (description.scalingPolicy === undefined) return;
  const { run } = work;
  const isDeployed = kind === 'ReplicaSet' && description.deployment?.enabled === true;
  const scaled: V1Kind = isDeployed ? 'Deployment' : kind;
  const name = isDeployed ? getClusterName(plan.name) : plan.name;
  const { apiVersion } = resources[scaled];
  const manifest = buildAutoscaler({
    namespace,
    target: { apiVersion, kind: scaled, name },
    min: description.capacity?.min,
    max: description.capacity?.max,
    cpuTarget: description.scalingPolicy.cpuUtilization?.target,
    annotations: createAnnotations(creation),
  });
  run.report('Attaching a horizontal pod autoscaler...');
  await run.step('autoscaler', () =>
    explainFailure(`Attaching the autoscaler of ${name} in namespace ${namespace}`, () =>
      upsertObject(
        { kind: 'HorizontalPodAutoscaler', namespace, name, build: (live) => mergeInto(live, manifest) },
        work,
      ),
    ),
  );
}

/** An existing object keeps its identity, its labels and, for a Deployment, its selector, which cannot change. */
function mergeInto(live: Manifest | undefined, manifest: Manifest): Manifest {
  if (live === undefined) return manifest;
  const before = asJsonObject(live['metadata']) ?? {};
  const after = asJsonObject(manifest['metadata']) ?? {};
  const annotations = { ...asJsonObject(before['annotations']), ...asJsonObject(after['annotations']) };
  const { selector } = asJsonObject(live['spec']) ?? {};
  return {
    ...live,
    metadata: { ...before, annotations },
    spec: { ...asJsonObject(manifest['spec']), ...(selector !== undefined && { selector }) },
  };
}
