import type { z } from 'zod';
import { getPath } from '#core/json.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { jsonObjectField, listOf, objectField, withDefault } from '#settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatFullName } from '../kinds/name.ts';
import { type Coordinates, readCoordinates, readKind, readNamespace } from '../manifest/identity.ts';
import { readStrategy } from '../manifest/strategy.ts';
import { findVersion, listExpiredVersions } from '../manifest/version.ts';
import { checkManifestUnmasked } from './secret-mask.ts';
import { type DeletionPlan, deletePlanned, readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { type groupNames, type OperationResult, toOperationResult } from './steps/result.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const cleanupField = objectField({
  manifests: withDefault(listOf(jsonObjectField()), []).describe(
    'Deployed objects: of each version whose annotations limit the versions kept, the oldest beyond the limit are deleted.',
  ),
});

/** A parsed description of `cleanupArtifacts`. */
type CleanupDescription = Exclude<z.output<typeof cleanupField>, undefined>;

/**
 * Deletes old versions. Orca calls it after each deploy with the deployed manifests. A manifest without
 * `strategy.spinnaker.io/max-version-history` keeps all its versions, and an unversioned one has none.
 */
export const cleanupArtifacts = defineOperation(kubernetesV2, {
  name: 'cleanupArtifacts',
  purpose: 'deletes old versions of what was deployed',
  operationClass: 'KubernetesCleanupArtifactsOperation',
  phase: 'CLEANUP_KUBERNETES_ARTIFACTS',
  context: 'cleanupKubernetesArtifacts',
  schema: cleanupField,
  validate,
  run: runCleanup,
});

/** Deleted objects have the manifest's kind and namespace, so the account's bounds apply there too. */
function validate({ manifests }: CleanupDescription, validation: Validation): void {
  for (const [index, manifest] of manifests.entries()) {
    validation.check(() => checkManifestUnmasked(manifest));
    if (findLimited(manifest) === undefined) continue;
    const field = `manifests[${index}].metadata.namespace`;
    validation.checkNamespace(getPath(manifest, 'metadata', 'namespace'), field);
    validation.checkPlace(readCoordinates(manifest), field);
  }
}

async function runCleanup(description: CleanupDescription, work: OperationWork): Promise<OperationResult> {
  return explainFailure('Deleting old versions', async () => {
    const limited = description.manifests.map(findLimited).filter((each) => each !== undefined);
    if (limited.length === 0) return toOperationResult({ names: {} });
    const { decidedAtMs, objects } = await work.run.decide(
      'expired',
      async () =>
        ({
          decidedAtMs: work.session.clock.now(),
          objects: (await Promise.all(limited.map((each) => listExpired(each, work)))).flat(),
        }) satisfies DeletionPlan,
    );
    for (const target of objects) {
      work.run.report(`Deleting ${describeObject(target)}, an old version`);
      await deletePlanned({ decidedAtMs, objects: [target] }, work);
    }
    return toOperationResult({ names: groupTargets(objects) });
  });
}

/** An object with a limit on its versions. */
interface LimitedVersion {
  readonly manifest: Manifest;
  /** The name without the version. */
  readonly name: string;
  /** How many are kept. */
  readonly kept: number;
}

/** Undefined for an unversioned manifest, and if it does not say how many versions to keep. */
function findLimited(manifest: Manifest): LimitedVersion | undefined {
  const name = findVersion(manifest)?.name;
  const kept = readStrategy(manifest).maxVersionHistory;
  return name === undefined || kept === undefined ? undefined : { manifest, name, kept };
}

async function listExpired(
  { manifest, name, kept }: LimitedVersion,
  { client, run }: OperationWork,
): Promise<DeletionPlan['objects']> {
  const { signal } = run;
  const resource = await client.getResourceOfKind(readKind(manifest), { signal });
  const namespace = readNamespace(manifest) || (await client.getDefaultNamespace({ signal }));
  const live = await client.list({ resource, namespace, metadataOnly: true }, { signal });
  return listExpiredVersions(live, { name }, kept).map((object) => ({
    ...readCoordinates(object),
    uid: readUid(object) ?? '',
  }));
}

function groupTargets(targets: readonly Coordinates[]): ReturnType<typeof groupNames> {
  const groups = Map.groupBy(targets, ({ namespace }) => namespace);
  return Object.fromEntries(
    [...groups].map(([namespace, members]) => [
      namespace,
      members.map(({ kind, name }) => formatFullName(kind, name)),
    ]),
  );
}
