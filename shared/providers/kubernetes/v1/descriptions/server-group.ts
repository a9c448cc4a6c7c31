import type { z } from 'zod';
import {
  booleanField,
  enumField,
  intField,
  objectField,
  stringField,
  stringListField,
  withDefault,
} from '#settings/coerce.ts';
import { serverGroupKinds } from '../../account/v1-rules.ts';
import { type AttributeRules, applicationRule, nameRule } from './attribute-rules.ts';
import { checkContainer, securityContextField, textMap } from './container.ts';
import { checkVolume, podShape } from './pod.ts';
import { checkSetParts, findSetKind, setKinds, setShape } from './set.ts';

const text = stringField;

const capacityField = objectField({ min: intField(), max: intField(), desired: intField() });
const scalingPolicyField = objectField({ cpuUtilization: objectField({ target: intField() }) });

/**
 * Clouddriver's `KubernetesApiConverter.toDeployment` ignores Deck's further fields (release 1.16: `paused`, `rollbackRevision`,
 * `progressRollbackSeconds`), and so do we.
 */
const deploymentField = objectField({
  enabled: withDefault(booleanField(), false),
  deploymentStrategy: objectField({
    type: enumField(['Recreate', 'RollingUpdate']),
    rollingUpdate: objectField({ maxUnavailable: text(), maxSurge: text() }),
  }),
  minReadySeconds: intField(),
  revisionHistoryLimit: intField(),
});

/** Where a server group comes from. */
const sourceField = objectField({
  serverGroupName: text(),
  region: text(),
  namespace: text(),
  account: text(),
  useSourceCapacity: withDefault(booleanField(), false),
});

/** The description of `createServerGroup` and `cloneServerGroup`. */
export const deployField = objectField({
  application: text().describe('Application: the first part of the name.'),
  stack: text().describe('Stack: the second part of the name.'),
  freeFormDetails: text().describe('Details: the third part of the name.'),
  namespace: text().describe('Namespace; left out, that of `source`, or `default`.'),
  sequence: intField({ min: 0, max: 999_999 }).describe('Number of the version; left out, the next one.'),
  targetSize: intField().describe('Number of pods.'),
  capacity: capacityField.describe(
    'Number of pods in `desired`, where `targetSize` is left out; `min` and `max` are those of the autoscaler.',
  ),
  scalingPolicy: scalingPolicyField.describe('What the autoscaler aims at; left out, there is none.'),
  loadBalancers: stringListField().describe('Services that lead to the pods.'),
  securityGroups: stringListField().describe('Looked at, and of no effect.'),
  restartPolicy: text().describe('`Always`, `OnFailure` or `Never`.'),
  terminationGracePeriodSeconds: intField({ max: Number.MAX_SAFE_INTEGER }).describe(
    'Seconds that pods have to end.',
  ),
  ...podShape,
  replicaSetAnnotations: textMap.describe('Annotations of the ReplicaSet.'),
  controllerAnnotations: textMap.describe(
    'Annotations of a ReplicationController, StatefulSet or DaemonSet.',
  ),
  podAnnotations: textMap.describe('Annotations of pods.'),
  securityContext: securityContextField.describe('Accepted, and of no effect, as in Clouddriver.'),
  deployment: deploymentField.describe('The Deployment that makes the ReplicaSet, where `enabled`.'),
  source: sourceField.describe(
    'The server group that this one is made after; of a clone in `account`, left out: in its own.',
  ),
  kind: text().describe(
    '`ReplicaSet`, `ReplicationController`, `StatefulSet` or `DaemonSet`; left out, what the account makes.',
  ),
  apiVersion: text().describe('Accepted, and of no effect: objects have the version that clusters serve.'),
  ...setShape,
});

/** The fields that name one server group. */
export const serverGroupShape = {
  serverGroupName: text().describe('Name of the server group.'),
  namespace: text().describe('Its namespace; left out, `region`, or `default`.'),
  region: text().describe('The namespace, in older words.'),
  kind: text().describe('Its kind; left out, the first one that has the name.'),
};

/** The description of `resizeServerGroup`. */
export const resizeField = objectField({
  ...serverGroupShape,
  capacity: capacityField.describe('The number of pods, in `desired`.'),
});

/** The description of `enableServerGroup` and `disableServerGroup`. */
export const switchField = objectField({
  ...serverGroupShape,
  desiredPercentage: intField().describe(
    'How much of it is switched, in percent of its pods; left out, all of it.',
  ),
});

/** The description of `upsertScalingPolicy`. */
export const autoscalerField = objectField({
  ...serverGroupShape,
  capacity: capacityField.describe('The fewest and the most pods, in `min` and `max`.'),
  scalingPolicy: scalingPolicyField.describe('What the autoscaler aims at.'),
});

/** The description of `destroyServerGroup`. */
export const destroyField = objectField(serverGroupShape);

type Output<F extends z.ZodType> = Exclude<z.output<F>, undefined>;

/** A parsed description of `createServerGroup` or `cloneServerGroup`. */
export type DeployDescription = Output<typeof deployField>;
/** The parsed Deployment of a server group. */
export type DeploymentDescription = Output<typeof deploymentField>;
/** A parsed description of `resizeServerGroup`. */
export type ResizeDescription = Output<typeof resizeField>;
/** A parsed description of `enableServerGroup` or `disableServerGroup`. */
export type SwitchDescription = Output<typeof switchField>;
/** A parsed description of `upsertScalingPolicy`. */
export type AutoscalerDescription = Output<typeof autoscalerField>;
/** A parsed description that names a server group. */
export type ServerGroupDescription = Output<typeof destroyField>;

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
