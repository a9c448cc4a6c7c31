import type { z } from 'zod';
import type { Artifact } from '../../../core/providers/artifact.ts';
import { jsonObjectField, listOf, objectField, withDefault } from '../../../core/settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatFullName, parseKind } from '../kinds/name.ts';
import { findRecordedArtifact } from '../manifest/annotate.ts';
import { type Coordinates, readName, readNamespace } from '../manifest/identity.ts';
import { readStrategy } from '../manifest/strategy.ts';
import { listExpiredVersions } from '../manifest/version.ts';
import { checkManifestUnmasked } from './secret-mask.ts';
import { deleteObject, readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { defineOperation, type OperationWork, type Validation } from './steps/operation-definition.ts';
import { type groupNames, type OperationResult, toOperationResult } from './steps/result.ts';
import { getTargetRef } from './steps/target.ts';

const artifactTypePrefix = 'kubernetes/';

const cleanupField = objectField({
  manifests: withDefault(listOf(jsonObjectField()), []).describe(
    'Deployed objects: of each whose annotations limit the versions kept, the oldest beyond the limit are deleted.',
  ),
});

/** A parsed description of `cleanupArtifacts`. */
type CleanupDescription = Exclude<z.output<typeof cleanupField>, undefined>;

/** The versions to delete, as the journal keeps them. */
type Expired = {
  readonly decidedAtMs: number;
  readonly objects: { kind: string; namespace: string; name: string; uid: string }[];
};

/**
 * Deletes old versions. Orca calls it after each deploy with what was deployed; a manifest without
 * `strategy.spinnaker.io/max-version-history` keeps all its versions.
 */
export const cleanupArtifacts = defineOperation({
  name: 'cleanupArtifacts',
  purpose: 'deletes old versions of what was deployed',
  operationClass: 'KubernetesCleanupArtifactsOperation',
  phase: 'CLEANUP_KUBERNETES_ARTIFACTS',
  context: 'cleanupKubernetesArtifacts',
  schema: cleanupField,
  validate,
  run: runCleanup,
});

/** What is deleted is where the annotations say, and of the kind that they say: an account's bounds hold there too. */
function validate({ manifests }: CleanupDescription, validation: Validation): void {
  for (const [index, manifest] of manifests.entries()) {
    const artifact = findRecordedArtifact(manifest);
    const field = `manifests[${index}]: the location of its artifact`;
    validation.checkNamespace(artifact?.location, field);
    validation.check(() => checkManifestUnmasked(manifest));
    if (artifact === undefined || findLimit(manifest) === undefined) continue;
    const { location: namespace = '', name = '' } = artifact;
    validation.checkPlace({ kind: readArtifactKind(artifact), namespace, name }, field);
  }
}

async function runCleanup(description: CleanupDescription, work: OperationWork): Promise<OperationResult> {
  return explainFailure('Deleting old versions', async () => {
    const limited = description.manifests.filter((manifest) => findLimit(manifest) !== undefined);
    if (limited.length === 0) return toOperationResult({ names: {} });
    const { decidedAtMs, objects } = await work.run.decide(
      'expired',
      async () =>
        ({
          decidedAtMs: work.session.clock.now(),
          objects: (await Promise.all(limited.map((manifest) => listExpired(manifest, work)))).flat(),
        }) satisfies Expired,
    );
    for (const target of objects) {
      work.run.report(`Deleting ${describeObject(target)}, an old version`);
      const ref = await getTargetRef(target, work);
      const fullName = formatFullName(target.kind, target.name);
      await deleteObject(work, { ref, fullName, uid: target.uid, decidedAtMs });
    }
    return toOperationResult({ names: groupTargets(objects) });
  });
}

/** How many versions a manifest wants kept; undefined when it does not say, or is no versioned object of a cluster. */
function findLimit(manifest: Manifest): number | undefined {
  if (!findRecordedArtifact(manifest)?.type?.startsWith(artifactTypePrefix)) return undefined;
  return readStrategy(manifest).maxVersionHistory;
}

/** Spinnaker's name of the kind in an artifact's type, `kubernetes/configMap`. */
function readArtifactKind({ type = '' }: Artifact): string {
  return parseKind(type.slice(artifactTypePrefix.length));
}

async function listExpired(manifest: Manifest, { client, run }: OperationWork): Promise<Expired['objects']> {
  const artifact = findRecordedArtifact(manifest);
  const limit = findLimit(manifest);
  if (artifact === undefined || limit === undefined) return [];
  const { signal } = run;
  const kind = readArtifactKind(artifact);
  const resource = await client.getResourceOfKind(kind, { signal });
  // Without one the versions are in the namespace of objects that name none: others of that name elsewhere are none of them.
  const namespace = artifact.location || (await client.getDefaultNamespace({ signal }));
  const live = await client.list({ resource, namespace, metadataOnly: true }, { signal });
  return listExpiredVersions(live, artifact, limit).map((object) => ({
    kind,
    namespace: readNamespace(object),
    name: readName(object),
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
