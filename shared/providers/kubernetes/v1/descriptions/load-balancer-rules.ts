import { type AttributeRules, nameRule } from './attribute-rules.ts';
import { checkIpv4 } from './container-rules.ts';
import {
  type DeleteLoadBalancerDescription,
  type LoadBalancerDescription,
  readLoadBalancerName,
} from './load-balancer.ts';

const protocols = ['TCP', 'UDP'];
const serviceTypes = ['ClusterIP', 'NodePort', 'LoadBalancer'];
const affinities = ['None', 'ClientIP'];

/** Reports what is wrong with the description of a load balancer. */
export function checkLoadBalancer(description: LoadBalancerDescription, rules: AttributeRules): void {
  rules.requireText(readLoadBalancerName(description), 'name', nameRule);
  rules.checkNamespace(description.namespace);
  for (const [index, port] of (description.ports ?? []).entries()) {
    const at = `ports[${index}]`;
    rules.requireText(port.name, `${at}.name`, nameRule);
    if (rules.checkPresent(port.protocol, `${at}.protocol`))
      rules.checkOneOf(port.protocol, `${at}.protocol`, protocols);
    for (const part of ['nodePort', 'port', 'targetPort'] as const)
      rules.checkPort(port[part] || undefined, `${at}.${part}`);
  }
  for (const [index, address] of (description.externalIps ?? []).entries())
    checkIpv4(address, `externalIps[${index}]`, rules);
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
