import type { OperationDefinition } from '#provider-kit/operation-definition.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { cloneServerGroup, createServerGroup } from './create-server-groups.ts';
import { destroyServerGroup } from './destroy-server-group.ts';
import { cloneJob, destroyJob, runJob } from './jobs.ts';
import { deleteLoadBalancer, upsertLoadBalancer } from './load-balancers.ts';
import { deregisterInstances, registerInstances } from './register-instances.ts';
import { resizeServerGroup } from './resize-server-group.ts';
import { deleteSecurityGroup, upsertSecurityGroup } from './security-groups.ts';
import { disableServerGroup, enableServerGroup } from './switch-server-group.ts';
import { terminateInstances } from './terminate-instances.ts';
import { upsertScalingPolicy } from './upsert-scaling-policy.ts';

/** The operations of V1 accounts, one line each. */
const definitions: readonly OperationDefinition<KubernetesSession>[] = [
  createServerGroup,
  cloneServerGroup,
  resizeServerGroup,
  enableServerGroup,
  disableServerGroup,
  destroyServerGroup,
  upsertLoadBalancer,
  deleteLoadBalancer,
  upsertScalingPolicy,
  registerInstances,
  deregisterInstances,
  terminateInstances,
  upsertSecurityGroup,
  deleteSecurityGroup,
  runJob,
  cloneJob,
  destroyJob,
];

/** The same with the names of their descriptions in the API's document: Clouddriver's names. */
export const v1OperationDefinitions = definitions.map((definition) => ({
  ...definition,
  title: `${definition.context.charAt(0).toUpperCase()}${definition.context.slice(1)}`,
}));
