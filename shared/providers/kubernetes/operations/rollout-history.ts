import type {
  KubernetesObject,
  V1ControllerRevision,
  V1Deployment,
  V1ReplicaSet,
} from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonObject, getPath, isSameJson, type JsonObject, omitNulls } from '#core/json.ts';
import type { ObjectRef } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, readList } from '../api/unchecked.ts';
import { annotationKeys, readAnnotations } from '../manifest/annotations.ts';
import { changeObject } from '../manifest/edit.ts';
import { readKind } from '../manifest/identity.ts';
import { formatSelectors, readLabelSelector } from '../manifest/selectors.ts';
import { readUid } from './steps/deletion.ts';
import type { OperationWork } from './steps/v2-operation.ts';

/** An earlier state of a workload: the ReplicaSet or ControllerRevision that keeps it, and its number. */
export interface Revision {
  readonly number: number;
  readonly record: Manifest;
}

/** Annotations that a Deployment's controller or a client keeps there: they are not part of a revision. */
const keptAnnotations: ReadonlySet<string> = new Set([
  annotationKeys.lastApplied,
  annotationKeys.deploymentRevision,
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
]);

/** The object that keeps a workload's earlier state of this name. */
export async function getRevisionRef(
  live: Manifest,
  name: string,
  { client, run }: Pick<OperationWork, 'client' | 'run'>,
): Promise<ObjectRef & { readonly namespace: string }> {
  const kind = readKind(live) === 'deployment' ? 'ReplicaSet' : 'ControllerRevision';
  const resource = await client.getResource('apps/v1', kind, { signal: run.signal });
  return { resource, namespace: String(asUnchecked<KubernetesObject>(live).metadata?.namespace), name };
}

/** The revisions of a live workload, oldest first. Of two with the same number the first counts. */
export async function listRevisions(
  live: Manifest,
  work: Pick<OperationWork, 'client' | 'run'>,
): Promise<Revision[]> {
  const { resource, namespace } = await getRevisionRef(live, '', work);
  const labelSelector = formatSelectors(readLabelSelector(asUnchecked<V1Deployment>(live).spec?.selector));
  const listed = await work.client.list({ resource, namespace, labelSelector }, { signal: work.run.signal });
  const revisions = new Map<number, Revision>();
  for (const record of listed.filter((each) => isControlledBy(each, live))) {
    const number = readRevision(record);
    if (number !== undefined && !revisions.has(number)) revisions.set(number, { number, record });
  }
  return [...revisions.values()].sort((left, right) => left.number - right.number);
}

/**
 * Picks a revision: by its number, where 0 is the one before the newest, or by how many steps back from the newest it is, which wins.
 *
 * @throws FailedOperationError if the history does not go back that far.
 */
export function chooseRevision(
  revisions: readonly Revision[],
  { revision, numRevisionsBack }: { [way in 'revision' | 'numRevisionsBack']?: number | undefined },
): Revision {
  const numbers = revisions.map(({ number }) => number).join(', ') || 'none';
  if (numRevisionsBack === undefined && revision !== undefined && revision > 0) {
    const found = revisions.find(({ number }) => number === revision);
    if (found !== undefined) return found;
    throw new FailedOperationError(`there is no revision ${revision}; there are: ${numbers}`);
  }
  const back = numRevisionsBack ?? 1;
  const found = revisions[revisions.length - 1 - back];
  if (found !== undefined) return found;
  throw new FailedOperationError(
    `there is no revision ${back} back: the history holds ${revisions.length} (${numbers})`,
  );
}

/** Whether the pod template of a live workload already equals an earlier state's. */
export function hasTemplateOf(live: Manifest, record: Manifest): boolean {
  const template = asUnchecked<V1Deployment>(live).spec?.template;
  // An older controller may have written nulls where a newer one writes nothing.
  return isSameJson(omitNulls(asJsonObject(template) ?? null), omitNulls(readTemplate(record)));
}

/**
 * The strategic merge patch that restores an earlier state of a workload: its pod template, and a Deployment's annotations. It fails if the
 * workload changed since it was read.
 */
export function createUndoPatch(live: Manifest, record: Manifest): JsonObject {
  const isReplicaSet = readKind(record) === 'replicaSet';
  return {
    metadata: {
      resourceVersion: asUnchecked<KubernetesObject>(live).metadata?.resourceVersion ?? null,
      ...(isReplicaSet && { annotations: { ...restoreAnnotations(live, record), $patch: 'replace' } }),
    },
    spec: { template: { ...readTemplate(record), $patch: 'replace' } },
  };
}

/** Annotations of a Deployment that is rolled back to a ReplicaSet. */
function restoreAnnotations(live: Manifest, record: Manifest): JsonObject {
  const kept = Object.entries(readAnnotations(live)).filter(([key]) => keptAnnotations.has(key));
  const restored = Object.entries(readAnnotations(record)).filter(([key]) => !keptAnnotations.has(key));
  return Object.fromEntries([...kept, ...restored]);
}

/** The pod template that a ReplicaSet has, without the hash its Deployment added, or that a ControllerRevision keeps. */
function readTemplate(record: Manifest): JsonObject {
  if (readKind(record) !== 'replicaSet') {
    const { $patch: _, ...template } =
      asJsonObject(getPath(asUnchecked<V1ControllerRevision>(record).data, 'spec', 'template')) ?? {};
    return template;
  }
  const template = asJsonObject(asUnchecked<V1ReplicaSet>(record).spec?.template) ?? {};
  return changeObject(template, ['metadata', 'labels'], ({ 'pod-template-hash': _, ...labels }) => labels);
}

/** The number of a revision; undefined if it is not a revision. As in kubectl, a ReplicaSet without a number counts as 0. */
function readRevision(record: Manifest): number | undefined {
  const { revision } = asUnchecked<V1ControllerRevision>(record);
  if (typeof revision === 'number') return revision;
  const text = readAnnotations(record)[annotationKeys.deploymentRevision] ?? '0';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function isControlledBy(object: Manifest, owner: Manifest): boolean {
  const { metadata } = asUnchecked<KubernetesObject>(object);
  return readList(metadata?.ownerReferences).some(
    (reference) => reference?.controller === true && reference.uid === readUid(owner),
  );
}
