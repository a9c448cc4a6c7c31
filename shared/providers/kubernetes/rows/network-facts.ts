import type {
  V1Ingress,
  V1NetworkPolicy,
  V1NetworkPolicyIngressRule,
  V1NetworkPolicyPort,
  V1Service,
} from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, readList, type Unchecked, type UncheckedList } from '../api/unchecked.ts';
import { toTextMap } from '../manifest/annotations.ts';
import type { IngressFacts, NetworkPolicyFacts, PortFacts, ServiceFacts } from './facts.ts';

/** Facts of a service. */
export function readServiceFacts(manifest: Manifest): ServiceFacts {
  return { selector: toTextMap(asUnchecked<V1Service>(manifest).spec?.selector) };
}

/** Facts of an ingress of `networking.k8s.io/v1`: clusters do not serve older forms. */
export function readIngressFacts(manifest: Manifest): IngressFacts {
  const { spec } = asUnchecked<V1Ingress>(manifest);
  const paths = readList(spec?.rules).flatMap((rule) => readList(rule?.http?.paths));
  const backends = [spec?.defaultBackend, ...paths.map((path) => path?.backend)];
  const names = backends.map((backend) => asString(backend?.service?.name));
  return { services: [...new Set(names)].filter((name) => name !== undefined) };
}

/** Facts of a network policy. The peers of its rules are not kept: no view shows them. */
export function readNetworkPolicyFacts(manifest: Manifest): NetworkPolicyFacts {
  const { spec } = asUnchecked<V1NetworkPolicy>(manifest);
  return { inbound: readPorts(spec?.ingress), outbound: readPorts(spec?.egress) };
}

/** The ports of all rules, each once. A rule without ports adds none. */
function readPorts(
  rules: UncheckedList<Pick<V1NetworkPolicyIngressRule, 'ports'>> | null | undefined,
): PortFacts[] {
  const ports = readList(rules).flatMap((rule) => readList(rule?.ports));
  return [...new Map(ports.map(readPort).map((port) => [JSON.stringify(port), port])).values()];
}

function readPort(entry: Unchecked<V1NetworkPolicyPort>): PortFacts {
  const protocol = asString(entry?.protocol);
  const port = entry?.port;
  const endPort = entry?.endPort;
  return {
    ...(protocol !== undefined && { protocol }),
    ...((typeof port === 'number' || typeof port === 'string') && { port }),
    ...(typeof endPort === 'number' && { endPort }),
  };
}
