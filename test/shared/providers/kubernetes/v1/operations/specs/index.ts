import type { KubernetesOperationSpec } from '../../../operations/specs/spec.ts';
import { cloneServerGroup, cloneWithOverrides } from './clone-server-group.ts';
import { createReplicaSet, createReplicationController } from './create-server-group.ts';
import { deregisterInstances, registerInstances, terminateInstances } from './instances.ts';
import { cloneJob, destroyJob, runJob } from './job.ts';
import { changeFront, createFront, deleteLoadBalancer } from './load-balancer.ts';
import { changeScalingPolicy, createScalingPolicy } from './scaling-policy.ts';
import { changeSecurityGroup, createSecurityGroup, deleteSecurityGroup } from './security-group.ts';
import {
  destroyServerGroup,
  disableServerGroup,
  enableServerGroup,
  resizeServerGroup,
} from './server-group.ts';
import {
  createDaemonSet,
  createStatefulSet,
  destroyStatefulSet,
  resizeStatefulSet,
  updateDaemonSet,
  updateStatefulSet,
} from './set.ts';

/** The specification of each operation of V1 accounts, by its name; some have more than one. */
export const v1OperationSpecs: readonly (readonly [string, KubernetesOperationSpec])[] = [
  ['createServerGroup', createReplicationController],
  ['createServerGroup', createReplicaSet],
  ['createServerGroup', createStatefulSet],
  ['createServerGroup', updateStatefulSet],
  ['createServerGroup', createDaemonSet],
  ['createServerGroup', updateDaemonSet],
  ['resizeServerGroup', resizeStatefulSet],
  ['destroyServerGroup', destroyStatefulSet],
  ['cloneServerGroup', cloneServerGroup],
  ['cloneServerGroup', cloneWithOverrides],
  ['resizeServerGroup', resizeServerGroup],
  ['enableServerGroup', enableServerGroup],
  ['disableServerGroup', disableServerGroup],
  ['destroyServerGroup', destroyServerGroup],
  ['upsertLoadBalancer', createFront],
  ['upsertLoadBalancer', changeFront],
  ['deleteLoadBalancer', deleteLoadBalancer],
  ['upsertScalingPolicy', createScalingPolicy],
  ['upsertScalingPolicy', changeScalingPolicy],
  ['registerInstancesWithLoadBalancer', registerInstances],
  ['deregisterInstancesFromLoadBalancer', deregisterInstances],
  ['terminateInstances', terminateInstances],
  ['upsertSecurityGroup', createSecurityGroup],
  ['upsertSecurityGroup', changeSecurityGroup],
  ['deleteSecurityGroup', deleteSecurityGroup],
  ['runJob', runJob],
  ['cloneJob', cloneJob],
  ['destroyJob', destroyJob],
];
