import type { ServerGroupKind } from '../../account/v1-rules.ts';
import type { ObjectRef } from '../../api/client.ts';
import type { Manifest } from '../../api/manifest.ts';
import { findReplicas, readCreationTimestamp, readName, readOwners } from '../../manifest/identity.ts';
import { findSetKind, type SetKind, setKinds } from '../descriptions/set.ts';
import { resources, type V1Kind } from './resources.ts';
import type { V1Work } from './v1-operation.ts';

/** Kinds of controllers that a server group may be, in the order in which Spinnaker searches for a name. */
const controllerKinds = ['ReplicationController', 'ReplicaSet'] as const satisfies readonly ServerGroupKind[];

/** An existing server group. */
export interface LiveServerGroup {
  readonly kind: ServerGroupKind;
  readonly ref: ObjectRef;
  readonly live: Manifest;
}

/** Where a server group is searched for. */
export interface ServerGroupName {
  readonly namespace: string;
  readonly name: string;
}

/** Where an object of a kind is found in the cluster. */
export function getRef(kind: V1Kind, { namespace, name }: ServerGroupName): ObjectRef {
  return { resource: resources[kind], namespace, name };
}

/** The live object, or undefined if there is none. */
export function findLive(
  kind: V1Kind,
  where: ServerGroupName,
  { client, run }: Pick<V1Work, 'client' | 'run'>,
): Promise<Manifest | undefined> {
  return client.get(getRef(kind, where), { signal: run.signal });
}

/** The ReplicationController of that name or else the ReplicaSet; undefined if there is neither. */
export async function findServerGroup(
  where: ServerGroupName,
  work: Pick<V1Work, 'client' | 'run'>,
): Promise<LiveServerGroup | undefined> {
  const found = await Promise.all(controllerKinds.map((kind) => findLive(kind, where, work)));
  for (const [index, kind] of controllerKinds.entries()) {
    const live = found[index];
    if (live !== undefined) return { kind, ref: getRef(kind, where), live };
  }
  return undefined;
}

/**
 * The server group of that name, of any kind: a ReplicationController, or else a ReplicaSet, a StatefulSet or a DaemonSet. If `kind` is one
 * of the latter two, only that is searched.
 */
export async function findAnyServerGroup(
  where: ServerGroupName,
  kind: string | undefined,
  work: Pick<V1Work, 'client' | 'run'>,
): Promise<{ readonly kind: ServerGroupKind | SetKind; readonly live: Manifest } | undefined> {
  const setKind = findSetKind(kind);
  const found = setKind === undefined ? await findServerGroup(where, work) : undefined;
  if (found !== undefined) return found;
  const candidates = setKind === undefined ? setKinds : [setKind];
  const sets = await Promise.all(candidates.map((each) => findLive(each, where, work)));
  for (const [index, live] of sets.entries()) {
    const each = candidates[index];
    if (live !== undefined && each !== undefined) return { kind: each, live };
  }
  return undefined;
}

/** The names and times of all server groups of a namespace. */
export async function listServerGroups(
  namespace: string,
  { client, run }: Pick<V1Work, 'client' | 'run'>,
): Promise<{ readonly name: string; readonly creationTimestamp: string }[]> {
  const lists = await Promise.all(
    controllerKinds.map((kind) =>
      client.list({ resource: resources[kind], namespace, metadataOnly: true }, { signal: run.signal }),
    ),
  );
  return lists.flat().map((object) => ({
    name: readName(object),
    creationTimestamp: readCreationTimestamp(object),
  }));
}

/** The name of the Deployment that makes the pods of a server group; undefined if none does. */
export function findDeploymentName(serverGroup: Manifest): string | undefined {
  return readOwners(serverGroup).find(({ kind }) => kind === 'deployment')?.name;
}

/** The intended number of pods of a server group; Kubernetes' own default if it names none. */
export function readReplicas(serverGroup: Manifest): number {
  return findReplicas(serverGroup) ?? 1;
}
