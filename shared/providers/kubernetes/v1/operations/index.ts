import { InvalidInputError } from '#core/errors.ts';
import {
  bindOperations,
  type OperationDefinition,
  readAccountName,
} from '#provider-kit/operation-definition.ts';
import type { Operation } from '#tasks/operation.ts';
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

/**
 * The operations for the accounts of a session that has V1 accounts: of two with one name, the description's account decides. An unknown
 * account is reported in the words of V2.
 *
 * @param operations those of V2 accounts
 */
export function addV1Operations(
  operations: readonly Operation[],
  session: KubernetesSession,
): readonly Operation[] {
  const v2 = new Map(operations.map((operation) => [operation.name, operation]));
  const v1 = new Map(bindOperations(definitions, session).map((operation) => [operation.name, operation]));
  return [...new Set([...v2.keys(), ...v1.keys()])].map((name) => ({
    name,
    prepare(description) {
      const account = session.findV1Account(readAccountName(description, name));
      const chosen = (account === undefined ? v2.get(name) : undefined) ?? v1.get(name);
      if (chosen !== undefined) return chosen.prepare(description);
      throw new InvalidInputError(
        `Unknown operation '${name}' of account '${account?.name}', a V1 account; it has: ${[...v1.keys()].join(', ')}`,
      );
    },
  }));
}
