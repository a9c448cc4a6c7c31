import type { V1Ingress } from '@kubernetes/client-node';
import type { V1SecurityGroupView } from '#contract/answers/kubernetes-v1.ts';
import { asString } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, readList } from '../../api/unchecked.ts';
import { readAnnotations } from '../../manifest/annotations.ts';
import type { ObjectFacts } from '../../rows/facts.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { readIngress } from '../read/ingress.ts';
import { listTexts } from '../read/values.ts';
import { formatObjectYaml } from './object-yaml.ts';

/** Ports of an Ingress, by Kubernetes' definition. */
const ports = [80, 443].map((port) => ({ startPort: port, endPort: port }));

/** An Ingress with all details. */
export function toV1SecurityGroupView(account: string, facts: ObjectFacts): V1SecurityGroupView {
  const { name, namespace, moniker, createdTime, labels, ingress, object } = facts;
  return {
    type: cloudProvider,
    cloudProvider,
    id: name,
    name,
    application: moniker.app,
    account,
    accountName: account,
    region: namespace,
    namespace,
    moniker,
    createdTime,
    annotations: object === undefined ? {} : readAnnotations(object),
    labels,
    inboundRules: object === undefined ? [] : listRules(object),
    outboundRules: [],
    loadBalancers: [...(ingress?.services ?? [])],
    tls: object === undefined ? [] : listCertificates(object),
    description: object === undefined ? {} : readIngress(object, account),
    summary: { name, id: name },
    ...(object && { ingress: object, yaml: formatObjectYaml(object) }),
  };
}

/** One for each host, or one for all. */
function listRules(object: Manifest): V1SecurityGroupView['inboundRules'] {
  const { spec } = asUnchecked<V1Ingress>(object);
  return readList(spec?.rules).map((rule) => {
    const host = asString(rule?.host);
    const paths = readList(rule?.http?.paths).map((path) => asString(path?.path));
    return {
      protocol: 'TCP',
      ...(host !== undefined && { host }),
      paths: paths.filter((path) => path !== undefined),
      portRanges: ports,
    };
  });
}

function listCertificates(object: Manifest): V1SecurityGroupView['tls'] {
  const { spec } = asUnchecked<V1Ingress>(object);
  return readList(spec?.tls).map((entry) => {
    const secretName = asString(entry?.secretName);
    const hosts = listTexts(entry?.hosts);
    return { hosts, ...(secretName !== undefined && { secretName }) };
  });
}
