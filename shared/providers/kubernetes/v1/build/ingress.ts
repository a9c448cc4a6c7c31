import type { V1HTTPIngressRuleValue, V1Ingress, V1IngressBackend } from '@kubernetes/client-node';
import { asJsonObject, getPath } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { BackendDescription, SecurityGroupDescription } from '../descriptions/security-group.ts';
import { type Draft, findItems, findMembers, finishDraft } from './draft.ts';

/**
 * The Ingress that V1 calls a security group. Its backends, hosts and rules come only from the description. The class, which a description
 * cannot name, and omitted annotations and labels are those of the existing Ingress.
 *
 * @param live the existing Ingress; undefined if there is none
 */
export function buildIngress(
  description: SecurityGroupDescription,
  namespace: string,
  live?: Manifest,
): Manifest {
  const { securityGroupName, ingress, tls, rules, annotations, labels } = description;
  const made = finishDraft<V1Ingress>({
    metadata: {
      name: securityGroupName,
      namespace,
      annotations: annotations && findMembers(annotations),
      labels: labels && findMembers(labels),
    },
    spec: {
      defaultBackend: ingress?.serviceName ? buildBackend(ingress) : undefined,
      tls: findItems(
        tls.map(({ hosts, secretName }) => ({
          hosts: findItems(hosts),
          secretName: secretName || undefined,
        })),
      ),
      rules: findItems(
        rules.map(({ host, value }) => ({
          host: host || undefined,
          http: findPaths(value?.http?.paths ?? []),
        })),
      ),
    },
  });
  const ingressClassName = getPath(live, 'spec', 'ingressClassName');
  return {
    ...live,
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { ...asJsonObject(live?.['metadata']), ...asJsonObject(made['metadata']) },
    spec: { ...(ingressClassName !== undefined && { ingressClassName }), ...asJsonObject(made['spec']) },
  };
}

type Paths = NonNullable<NonNullable<SecurityGroupDescription['rules'][number]['value']>['http']>['paths'];

function findPaths(paths: Paths): Draft<V1HTTPIngressRuleValue> | undefined {
  const built = paths.map(({ path, ingress }) => ({
    path: path || undefined,
    pathType: 'ImplementationSpecific',
    backend: buildBackend(ingress),
  }));
  return built.length === 0 ? undefined : { paths: built };
}

function buildBackend({ serviceName, port }: Partial<BackendDescription> = {}): Draft<V1IngressBackend> {
  return { service: { name: serviceName, port: { number: port } } };
}
