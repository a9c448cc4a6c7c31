import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { type ForeignRequest, namePlaceholder, namespacePlaceholder } from './pair.ts';

/** Members of an object; `metadata` adds to its name and namespace. */
export type Members = { readonly [key: string]: JsonValue };

/** A namespaced object. @param type apiVersion and kind, such as `apps/v1 Deployment` */
export function namespaced(type: string, members: Members = {}): Manifest {
  return toManifest(type, { name: namePlaceholder, namespace: namespacePlaceholder }, members);
}

/** A cluster-scoped object. @param type apiVersion and kind, such as `v1 PersistentVolume` */
export function clusterScoped(type: string, members: Members = {}): Manifest {
  return toManifest(type, { name: `${namespacePlaceholder}-${namePlaceholder}` }, members);
}

function toManifest(type: string, identity: JsonObject, { metadata, ...members }: Members): Manifest {
  const [apiVersion = '', kind = ''] = type.split(' ');
  return { apiVersion, kind, metadata: { ...identity, ...(metadata as JsonObject) }, ...members };
}

/** A Deployment that starts no Pods. @param spec members of its Pods' spec */
export function deployment(podSpec: Members = {}, spec: Members = {}): Manifest {
  return namespaced('apps/v1 Deployment', {
    spec: {
      paused: true,
      selector: { matchLabels: { app: namePlaceholder } },
      template: {
        metadata: { labels: { app: namePlaceholder } },
        spec: { containers: [container()], ...podSpec },
      },
      ...spec,
    },
  });
}

export function container(members: Members = {}): JsonObject {
  return { name: 'main', image: 'registry.example/main:1', ...members };
}

/** What somebody else sets by a JSON merge patch. @param resource path up to the plural, such as `/apis/apps/v1 deployments` */
export function patchBySomebody(resource: string, body: JsonObject): ForeignRequest {
  const [prefix = '', plural = ''] = resource.split(' ');
  const target = `${prefix}/namespaces/${namespacePlaceholder}/${plural}/${namePlaceholder}?fieldManager=somebody`;
  return { method: 'PATCH', target, body };
}
