import { asJsonArray, asString, getPath, type JsonValue } from '../../../core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { toTextMap } from '../manifest/annotations.ts';
import type { IngressFacts, NetworkPolicyFacts, PortFacts, ServiceFacts } from './facts.ts';

/** What is particular to a service. */
export function readServiceFacts(manifest: Manifest): ServiceFacts {
  return { selector: toTextMap(getPath(manifest, 'spec', 'selector')) };
}

/** What is particular to an ingress, of `networking.k8s.io/v1`: older forms are no longer served. */
export function readIngressFacts(manifest: Manifest): IngressFacts {
  const paths = asJsonArray(getPath(manifest, 'spec', 'rules')).flatMap((rule) =>
    asJsonArray(getPath(rule, 'http', 'paths')),
  );
  const backends = [
    getPath(manifest, 'spec', 'defaultBackend'),
    ...paths.map((path) => getPath(path, 'backend')),
  ];
  const names = backends.map((backend) => asString(getPath(backend, 'service', 'name')));
  return { services: [...new Set(names)].filter((name) => name !== undefined) };
}

/** What is particular to a network policy. Whom its rules speak of is not kept: no view shows it. */
export function readNetworkPolicyFacts(manifest: Manifest): NetworkPolicyFacts {
  return {
    inbound: readPorts(getPath(manifest, 'spec', 'ingress')),
    outbound: readPorts(getPath(manifest, 'spec', 'egress')),
  };
}

/** The ports of all rules, each once. A rule without ports adds none. */
function readPorts(rules: JsonValue | undefined): PortFacts[] {
  const ports = asJsonArray(rules).flatMap((rule) => asJsonArray(getPath(rule, 'ports')));
  return [...new Map(ports.map(readPort).map((port) => [JSON.stringify(port), port])).values()];
}

function readPort(entry: JsonValue): PortFacts {
  const protocol = asString(getPath(entry, 'protocol'));
  const port = getPath(entry, 'port');
  const endPort = getPath(entry, 'endPort');
  return {
    ...(protocol !== undefined && { protocol }),
    ...((typeof port === 'number' || typeof port === 'string') && { port }),
    ...(typeof endPort === 'number' && { endPort }),
  };
}
