import { serverGroupKinds } from '../../account/v1-rules.ts';
import { type AttributeRules, applicationRule, nameRule } from './attribute-rules.ts';
import { checkContainer } from './container-rules.ts';
import type {
  AutoscalerDescription,
  DeployDescription,
  ResizeDescription,
  ServerGroupDescription,
  SwitchDescription,
} from './server-group.ts';
import { checkSetParts, findSetKind, setKinds } from './set.ts';
import { checkVolume } from './volume-rules.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];

/** Reports what is wrong with the description of a new server group. */
export function checkDeploy(description: DeployDescription, rules: AttributeRules): void {
  rules.checkPresent(description.application, 'application');
  const { containers, podSpec, kind, targetSize, capacity } = description;
  const isSet = findSetKind(kind) !== undefined;
  rules.checkPresent(isSet && containers.length === 0 ? podSpec?.containers : containers, 'containers');
  const hasSize = kind === 'DaemonSet' || targetSize !== undefined || capacity?.desired !== undefined;
  if (!hasSize && !usesSourceCapacity(description)) rules.reject('targetSize', 'empty');
  checkDeployParts(description, rules);
}

/** Reports what is wrong with the description of a copy: it says what differs from its source. */
export function checkClone(description: DeployDescription, rules: AttributeRules): void {
  const { source } = description;
  if (rules.checkPresent(source?.serverGroupName, 'source'))
    rules.checkText(source?.serverGroupName, 'source', nameRule);
  const from = source?.namespace || source?.region;
  const isSaidBelow = from === description.namespace && !source?.account;
  if (!isSaidBelow) rules.checkSourceNamespace(from);
  checkDeployParts({ ...description, source: undefined }, rules);
}

/** The given fields of a new server group: a clone takes the rest from its source. */
function checkDeployParts(description: DeployDescription, rules: AttributeRules): void {
  const { containers, initContainers, volumeSources, loadBalancers, securityGroups } = description;
  rules.checkText(description.application, 'application', applicationRule);
  rules.checkText(description.stack, 'stack', applicationRule);
  rules.checkText(description.freeFormDetails, 'details', nameRule);
  rules.checkNotNegative(description.targetSize ?? description.capacity?.desired, 'targetSize');
  rules.checkNamespace(description.source?.namespace || description.namespace);
  rules.checkOneOf(description.restartPolicy, 'restartPolicy', restartPolicies);
  const requireName = (name: string, at: string) => rules.requireText(name, at, nameRule);
  rules.checkEach(volumeSources, 'volumeSources', checkVolume);
  rules.checkEach(loadBalancers ?? [], 'loadBalancers', requireName);
  rules.checkEach(securityGroups ?? [], 'securityGroups', requireName);
  rules.checkEach(containers, 'container', checkContainer);
  rules.checkEach(initContainers, 'initContainer', checkContainer);
  rules.checkOneOf(description.kind, 'kind', [...serverGroupKinds, ...setKinds]);
  // A DaemonSet has as many pods as there are nodes.
  if (description.kind !== 'DaemonSet') checkScalingPolicy(description, rules);
  if (findSetKind(description.kind) !== undefined) checkSetParts(description, rules);
}

/** Whether the size is copied from the source. */
export function usesSourceCapacity({ source }: DeployDescription): boolean {
  return source?.useSourceCapacity === true && Boolean(source.serverGroupName);
}

function checkScalingPolicy(
  { scalingPolicy, capacity }: Pick<DeployDescription, 'scalingPolicy' | 'capacity'>,
  rules: AttributeRules,
): void {
  if (scalingPolicy === undefined) return;
  const { cpuUtilization } = scalingPolicy;
  if (cpuUtilization === undefined) rules.reject('scalingPolicy.cpuUtilization', 'empty');
  else if (rules.checkPresent(cpuUtilization.target, 'scalingPolicy.cpuUtilization.target'))
    rules.checkPositive(cpuUtilization.target, 'scalingPolicy.cpuUtilization.target');
  rules.checkPresent(capacity?.min, 'capacity.min');
  rules.checkPresent(capacity?.max, 'capacity.max');
}

/** Reports what is wrong with how a server group is named. */
export function checkServerGroup(description: ServerGroupDescription, rules: AttributeRules): void {
  rules.requireText(description.serverGroupName, 'serverGroupName', nameRule);
  rules.checkNamespace(description.namespace || description.region);
}

/** Reports what is wrong with a new size. */
export function checkResize(description: ResizeDescription, rules: AttributeRules): void {
  checkServerGroup(description, rules);
  if (description.capacity === undefined) rules.reject('capacity', 'empty');
  else if (rules.checkPresent(description.capacity.desired, 'capacity.desired'))
    rules.checkNotNegative(description.capacity.desired, 'capacity.desired');
}

/** Reports what is wrong with how much of a server group to switch. */
export function checkSwitch(description: SwitchDescription, rules: AttributeRules): void {
  checkServerGroup(description, rules);
  rules.checkRange(description.desiredPercentage, 'desiredPercent', [0, 100]);
}

/** Reports what is wrong with the bounds or the target of an autoscaler. */
export function checkAutoscaler(description: AutoscalerDescription, rules: AttributeRules): void {
  checkServerGroup(description, rules);
  const { capacity, scalingPolicy } = description;
  const { min, max } = capacity ?? {};
  rules.checkNotNegative(min, 'capacity.min');
  rules.checkNotNegative(max, 'capacity.max');
  if (min !== undefined && max !== undefined && max < min)
    rules.reject('description.capacity.max', 'lessThan', 'description.capacity.min');
  rules.checkPositive(scalingPolicy?.cpuUtilization?.target, 'scalingPolicy.cpuUtilization.target');
}
