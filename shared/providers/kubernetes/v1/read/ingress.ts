import type { V1Ingress, V1IngressBackend } from '@kubernetes/client-node';
import { asString, type JsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, findNumber, readList, type Unchecked } from '../../api/unchecked.ts';
import { readAnnotations, readLabels } from '../../manifest/annotations.ts';
import { readName, readNamespace } from '../../manifest/identity.ts';
import { type Draft, finishDraft } from '../build/draft.ts';
import type { BackendDescription, SecurityGroupDescription } from '../descriptions/security-group.ts';
import { listTexts } from './values.ts';

/** The description with which `upsertSecurityGroup` would recreate an Ingress. */
export function readIngress(ingress: Manifest, account: string): JsonObject {
  const { spec } = asUnchecked<V1Ingress>(ingress);
  return {
    account,
    ...finishDraft<SecurityGroupDescription>({
      securityGroupName: readName(ingress),
      namespace: readNamespace(ingress),
      ingress: spec?.defaultBackend ? readBackend(spec.defaultBackend) : undefined,
      tls: readList(spec?.tls).map((entry) => ({
        hosts: listTexts(entry?.hosts),
        secretName: asString(entry?.secretName),
      })),
      rules: readList(spec?.rules).map((rule) => ({
        host: asString(rule?.host),
        value: {
          http: {
            paths: readList(rule?.http?.paths).map((path) => ({
              path: asString(path?.path),
              ingress: readBackend(path?.backend),
            })),
          },
        },
      })),
      annotations: readAnnotations(ingress),
      labels: readLabels(ingress),
    }),
  };
}

function readBackend(backend: Unchecked<V1IngressBackend>): Draft<BackendDescription> {
  const { name, port } = backend?.service ?? {};
  return { serviceName: asString(name), port: findNumber(port?.number) };
}
