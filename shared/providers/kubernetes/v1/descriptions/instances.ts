import type { z } from 'zod';
import { objectField, stringField, stringListField, withDefault } from '#settings/coerce.ts';
import { type AttributeRules, nameRule, secretNameRule } from './attribute-rules.ts';

const instancesShape = {
  instanceIds: withDefault(stringListField(), []).describe('Names of the pods.'),
  namespace: stringField().describe('Their namespace; left out, `default`.'),
};

/** The description of `terminateInstances`. */
export const instancesField = objectField(instancesShape);

/** The description of `registerInstancesWithLoadBalancer` and `deregisterInstancesFromLoadBalancer`. */
export const registrationField = objectField({
  ...instancesShape,
  loadBalancerNames: withDefault(stringListField(), []).describe('Names of the Services.'),
});

/** A parsed description that names pods. */
export type InstancesDescription = Exclude<z.output<typeof instancesField>, undefined>;
/** A parsed description that names pods and load balancers. */
export type RegistrationDescription = Exclude<z.output<typeof registrationField>, undefined>;

/** Reports what is wrong with how pods are named. */
export function checkInstances(
  { instanceIds, namespace }: InstancesDescription,
  rules: AttributeRules,
): void {
  rules.checkPresent(instanceIds, 'instanceIds');
  rules.checkEach(instanceIds, 'instanceIds', (name, at) => rules.requireText(name, at, secretNameRule));
  rules.checkNamespace(namespace);
}

/** Reports what is wrong with how pods and load balancers are named. */
export function checkRegistration(description: RegistrationDescription, rules: AttributeRules): void {
  checkInstances(description, rules);
  rules.checkPresent(description.loadBalancerNames, 'loadBalancerNames');
  rules.checkEach(description.loadBalancerNames, 'loadBalancerNames', (name, at) =>
    rules.requireText(name, at, nameRule),
  );
}
