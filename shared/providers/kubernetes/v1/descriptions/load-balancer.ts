import type { z } from 'zod';
import {
  intField,
  listOf,
  objectField,
  stringField,
  stringListField,
  stringMapField,
} from '#settings/coerce.ts';
import { type AttributeRules, nameRule } from './attribute-rules.ts';
import { checkIpv4 } from './container.ts';

const text = stringField;

const portField = objectField({
  name: text(),
  protocol: text(),
  port: intField(),
  targetPort: intField(),
  nodePort: intField(),
});

/** The description of `upsertLoadBalancer`. Omitted fields of an existing Service stay as they are. */
export const loadBalancerField = objectField({
  name: text().describe('Name of the Service.'),
  loadBalancerName: text().describe('The same; it counts before `name`.'),
  namespace: text().describe('Its namespace; left out, `default`.'),
  ports: listOf(portField).describe('Its ports.'),
  externalIps: stringListField().describe('Addresses at which it is there besides.'),
  clusterIp: text().describe('Its address within the cluster, or `None`.'),
  loadBalancerIp: text().describe('The address that its load balancer asks for.'),
  sessionAffinity: text().describe('`None` or `ClientIP`.'),
  serviceType: text().describe('`ClusterIP`, `NodePort` or `LoadBalancer`.'),
  serviceAnnotations: stringMapField().describe('Its annotations.'),
  serviceLabels: stringMapField().describe('Its labels.'),
});

/** The description of `deleteLoadBalancer`. */
export const deleteLoadBalancerField = objectField({
  loadBalancerName: text().describe('Name of the Service.'),
  namespace: text().describe('Its namespace; left out, `default`.'),
});

/** A parsed description of `upsertLoadBalancer`. */
export type LoadBalancerDescription = Exclude<z.output<typeof loadBalancerField>, undefined>;
/** A parsed description of `deleteLoadBalancer`. */
export type DeleteLoadBalancerDescription = Exclude<z.output<typeof deleteLoadBalancerField>, undefined>;

/** The name that a description gives a load balancer; empty if it gives none. */
export function readLoadBalancerName({ name, loadBalancerName }: LoadBalancerDescription): string {
  return loadBalancerName || name || '';
}

const protocols = ['TCP', 'UDP'];
const serviceTypes = ['ClusterIP', 'NodePort', 'LoadBalancer'];
const affinities = ['None', 'ClientIP'];

/** Reports what is wrong with the description of a load balancer. */
export function checkLoadBalancer(description: LoadBalancerDescription, rules: AttributeRules): void {
  rules.requireText(readLoadBalancerName(description), 'name', nameRule);
  rules.checkNamespace(description.namespace);
  rules.checkEach(description.ports ?? [], 'ports', (port, at) => {
    rules.requireText(port.name, `${at}.name`, nameRule);
    if (rules.checkPresent(port.protocol, `${at}.protocol`))
      rules.checkOneOf(port.protocol, `${at}.protocol`, protocols);
    for (const part of ['nodePort', 'port', 'targetPort'] as const)
      rules.checkPort(port[part] || undefined, `${at}.${part}`);
  });
  rules.checkEach(description.externalIps ?? [], 'externalIps', checkIpv4);
  if (description.clusterIp !== 'None') checkIpv4(description.clusterIp, 'clusterIp', rules);
  checkIpv4(description.loadBalancerIp, 'loadBalancerIp', rules);
  rules.checkOneOf(description.sessionAffinity, 'sessionAffinity', affinities);
  rules.checkOneOf(description.serviceType, 'serviceType', serviceTypes);
}

/** Reports what is wrong with how a load balancer is named. */
export function checkDeleteLoadBalancer(
  description: DeleteLoadBalancerDescription,
  rules: AttributeRules,
): void {
  rules.requireText(description.loadBalancerName, 'loadBalancerName', nameRule);
  rules.checkNamespace(description.namespace);
}
