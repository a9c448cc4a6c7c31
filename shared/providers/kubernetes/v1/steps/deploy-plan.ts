import { FailedOperationError } from '#core/errors.ts';
import { listPullSecrets } from '../../account/v1-rules.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { ServerGroupPlan } from '../build/controller.ts';
import type { DeployDescription } from '../descriptions/server-group.ts';
import { usesSourceCapacity } from '../descriptions/server-group-rules.ts';
import { formatClusterName } from '../naming/server-group-name.ts';
import { findServerGroup, readReplicas } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';

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
