import type { ServerGroupKind } from '../../account/v1-rules.ts';
import { getBuiltInResource } from '../../api/built-in-resources.ts';
import type { ApiResource, ObjectRef } from '../../api/client.ts';
import type { Manifest } from '../../api/manifest.ts';
import { findReplicas, readCreationTimestamp, readName, readOwners } from '../../manifest/identity.ts';
import { findSetKind, type SetKind, setKinds } from '../descriptions/set.ts';
import type { V1Work } from './v1-operation.ts';

/** Kinds of controllers that a server group may be, in the order in which Spinnaker searches for a name. */
const controllerKinds = ['ReplicationController', 'ReplicaSet'] as const satisfies readonly ServerGroupKind[];

/** An existing object, such as a server group. */
interface LiveObject<Kind extends V1Kind> {
  readonly kind: Kind;
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
export function findServerGroup(
  where: ServerGroupName,
  work: Pick<V1Work, 'client' | 'run'>,
): Promise<LiveObject<ServerGroupKind> | undefined> {
  return findFirst(controllerKinds, where, work);
}

/** The object of that name, of the first kind that has one. */
async function findFirst<Kind extends V1Kind>(
  kinds: readonly Kind[],
  where: ServerGroupName,
  work: Pick<V1Work, 'client' | 'run'>,
): Promise<LiveObject<Kind> | undefined> {
  const found = await Promise.all(
    kinds.map(async (kind) => ({ kind, live: await findLive(kind, where, work) })),
  );
  return found.find((each): each is LiveObject<Kind> => each.live !== undefined);
}

/**
 * The server group of that name, of any kind: a ReplicationController, or else a ReplicaSet, a StatefulSet or a DaemonSet. If `kind` is one
 * of the latter two, only that is searched.
 */
export async function findAnyServerGroup(
  where: ServerGroupName,
  kind: string | undefined,
  work: Pick<V1Work, 'client' | 'run'>,
): Promise<LiveObject<ServerGroupKind | SetKind> | undefined> {
  const setKind = findSetKind(kind);
  if (setKind !== undefined) return findFirst([setKind], where, work);
  return (await findServerGroup(where, work)) ?? findFirst(setKinds, where, work);
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

/** The resources of the kinds that V1 operations use. */
export const resources = {
  ReplicationController: getBuiltInResource('v1', 'ReplicationController'),
  ReplicaSet: getBuiltInResource('apps/v1', 'ReplicaSet'),
  StatefulSet: getBuiltInResource('apps/v1', 'StatefulSet'),
  DaemonSet: getBuiltInResource('apps/v1', 'DaemonSet'),
  Deployment: getBuiltInResource('apps/v1', 'Deployment'),
  Service: getBuiltInResource('v1', 'Service'),
  Ingress: getBuiltInResource('networking.k8s.io/v1', 'Ingress'),
  Pod: getBuiltInResource('v1', 'Pod'),
  HorizontalPodAutoscaler: getBuiltInResource('autoscaling/v2', 'HorizontalPodAutoscaler'),
} as const satisfies { readonly [kind: string]: ApiResource };

/** A kind that V1 operations use. */
export type V1Kind = keyof typeof resources;
