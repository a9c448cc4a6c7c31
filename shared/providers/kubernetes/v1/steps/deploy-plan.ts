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

/** Adds to a controller, or a Deployment, what its description says nothing of. */
export type Complete = (controller: Manifest) => Promise<Manifest>;

/** What Orca is told of a server group that was made. @param ancestor the one before; null for none */
export function toDeployResult(namespace: string, name: string, ancestor: string | null): DeployResult {
  return {
    serverGroupNames: [`${namespace}:${name}`],
    serverGroupNameByRegion: { [namespace]: name },
    ...(ancestor !== null && { ancestorServerGroupNameByRegion: { [namespace]: ancestor } }),
  };
}

/** The name of the cluster that a description is about. */
export function toClusterName({ application = '', stack, freeFormDetails }: DeployDescription): string {
  return formatClusterName({ application, stack, detail: freeFormDetails });
}

/** How many pods a new server group is to have. @throws FailedOperationError when it is to be as many as those of one that is not there. */
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

/** A server group that is to be made, with what the account adds to it. */
export function createPlan(
  plan: Pick<ServerGroupPlan, 'name' | 'namespace' | 'replicas' | 'description' | 'annotations'>,
  { account, session }: V1Work,
): ServerGroupPlan {
  const pullSecrets = listPullSecrets(account.v1, plan.namespace);
  return { ...plan, pullSecrets, defaultRegistry: session.settings.defaultRegistry };
}
