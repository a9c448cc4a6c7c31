import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Operation, PreparedOperation } from '#tasks/operation.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { bindOperation, readAccountName } from '../../operations/steps/operation-definition.ts';
import type { V1OperationDefinition } from '../steps/v1-operation.ts';
import { cloneJob } from './clone-job.ts';
import { cloneServerGroup } from './clone-server-group.ts';
import { createServerGroup } from './create-server-group.ts';
import { deleteLoadBalancer } from './delete-load-balancer.ts';
import { deleteSecurityGroup } from './delete-security-group.ts';
import { destroyJob } from './destroy-job.ts';
import { destroyServerGroup } from './destroy-server-group.ts';
import { deregisterInstances, registerInstances } from './register-instances.ts';
import { resizeServerGroup } from './resize-server-group.ts';
import { runJob } from './run-job.ts';
import { disableServerGroup, enableServerGroup } from './switch-server-group.ts';
import { terminateInstances } from './terminate-instances.ts';
import { upsertLoadBalancer } from './upsert-load-balancer.ts';
import { upsertScalingPolicy } from './upsert-scaling-policy.ts';
import { upsertSecurityGroup } from './upsert-security-group.ts';

/** The operations of V1 accounts, one line each. */
export const v1OperationDefinitions: readonly V1OperationDefinition[] = [
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

/** The operations of V1 accounts alone: they do not know V2 accounts. */
export function bindV1Operations(session: KubernetesSession): readonly Operation[] {
  return v1OperationDefinitions.map((definition) => bindOperation(definition, session));
}

/**
 * The operations for the accounts of a session that has V1 accounts: of two with one name, the description's account decides.
 *
 * @param operations those of V2 accounts
 */
export function addV1Operations(
  operations: readonly Operation[],
  session: KubernetesSession,
): readonly Operation[] {
  const v2 = new Map(operations.map((operation) => [operation.name, operation]));
  const v1 = new Map(v1OperationDefinitions.map((definition) => [definition.name, definition]));
  return [...new Set([...v2.keys(), ...v1.keys()])].map((name) => ({
    name,
    prepare: (description) => choose(description, { name, v1: v1.get(name), v2: v2.get(name), session }),
  }));
}

interface Candidates {
  readonly name: string;
  readonly v1: V1OperationDefinition | undefined;
  readonly v2: Operation | undefined;
  readonly session: KubernetesSession;
}

/** An unknown account is reported in the words of V2. */
function choose(description: JsonObject, { name, v1, v2, session }: Candidates): PreparedOperation {
  const account = session.findV1Account(readAccountName(description, name));
  if (v1 !== undefined && (account !== undefined || v2 === undefined))
    return v1.prepare(description, session);
  if (account === undefined && v2 !== undefined) return v2.prepare(description);
  throw new InvalidInputError(
    `Unknown operation '${name}' of account '${account?.name}', a V1 account; it has: ${v1OperationDefinitions.map((each) => each.name).join(', ')}`,
  );
}
