import type { V1Service } from '@kubernetes/client-node';
import { asString, type JsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, findNumber, readList } from '../../api/unchecked.ts';
import { readAnnotations, readLabels } from '../../manifest/annotations.ts';
import { readName, readNamespace } from '../../manifest/identity.ts';
import { finishDraft } from '../build/draft.ts';
import type { LoadBalancerDescription } from '../descriptions/load-balancer.ts';
import { listTexts } from './values.ts';

/** The description with which `upsertLoadBalancer` would recreate a Service. */
export function readService(service: Manifest, account: string): JsonObject {
  const { spec } = asUnchecked<V1Service>(service);
  return {
    account,
    ...finishDraft<LoadBalancerDescription>({
      name: readName(service),
      namespace: readNamespace(service),
      ports: readList(spec?.ports).map((port) => ({
        name: asString(port?.name),
        protocol: asString(port?.protocol),
        port: findNumber(port?.port),
        targetPort: findNumber(port?.targetPort),
        nodePort: findNumber(port?.nodePort),
      })),
      externalIps: listTexts(spec?.externalIPs),
      clusterIp: asString(spec?.clusterIP),
      loadBalancerIp: asString(spec?.loadBalancerIP),
      sessionAffinity: asString(spec?.sessionAffinity),
      serviceType: asString(spec?.type),
      serviceAnnotations: readAnnotations(service),
      serviceLabels: readLabels(service),
    }),
  };
}
