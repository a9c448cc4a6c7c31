import { asJsonObject } from '#core/json.ts';
import type { ServerGroupKind } from '../../account/v1-rules.ts';
import type { Manifest } from '../../api/manifest.ts';
import { readName } from '../../manifest/identity.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildAutoscaler } from '../build/autoscaler.ts';
import { getClusterName, type ServerGroupPlan } from '../build/controller.ts';
import { buildDeployment } from '../build/deployment.ts';
import { createAnnotations } from './create-once.ts';
import type { Complete } from './deploy-plan.ts';
import { resources, type V1Kind } from './resources.ts';
import { findLive } from './server-group.ts';
import { upsertObject } from './upsert-object.ts';
import type { V1Work } from './v1-operation.ts';

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
export interface AutoscalerRequest {
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
