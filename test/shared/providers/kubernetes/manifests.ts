import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';

/** What a manifest of a test says beside its name. */
export interface ManifestParts {
  readonly namespace?: string;
  readonly annotations?: JsonObject;
  readonly labels?: JsonObject;
  /** Members of the pod spec beside the containers, or of the object where it has no pods. */
  readonly more?: JsonObject;
}

/** Annotations by which an object belongs to a cluster of an application. */
export function toMoniker(cluster: string, application = 'shop') {
  return { 'moniker.spinnaker.io/application': application, 'moniker.spinnaker.io/cluster': cluster };
}

/** Annotations by which an object is deployed under its own name, by this strategy. */
export function toStrategy(strategy: string, value = 'true') {
  return { 'strategy.spinnaker.io/versioned': 'false', [`strategy.spinnaker.io/${strategy}`]: value };
}

/** A manifest of any kind. */
export function createManifest(
  apiVersion: string,
  kind: string,
  { name, namespace, annotations, labels, more }: ManifestParts & { readonly name: string },
): Manifest {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(annotations && { annotations }),
      ...(labels && { labels }),
    },
    ...more,
  };
}

export function createConfigMap(name: string, data: JsonObject, parts: ManifestParts = {}): Manifest {
  return createManifest('v1', 'ConfigMap', { name, ...parts, more: { data } });
}

/** A Secret with one member of `stringData`-like text, encoded as `data` wants it. */
export function createSecret(name: string, text: string, parts: ManifestParts = {}): Manifest {
  const data = { text: Buffer.from(text).toString('base64') };
  return createManifest('v1', 'Secret', { name, ...parts, more: { data } });
}

/** A Service that selects the pods with these labels. */
export function createService(name: string, selector: JsonObject, parts: ManifestParts = {}): Manifest {
  const more = { spec: { selector, ports: [{ port: 80 }] } };
  return createManifest('v1', 'Service', { name, ...parts, more });
}

/** A workload of kind Deployment, ReplicaSet, StatefulSet or DaemonSet that runs one container. */
export function createWorkload(
  kind: 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'DaemonSet',
  name: string,
  parts: ManifestParts & { readonly image?: string; readonly replicas?: number } = {},
): Manifest {
  const { image = 'registry.test/web:1', replicas, more } = parts;
  const spec = {
    ...(replicas !== undefined && { replicas }),
    selector: { matchLabels: { app: name } },
    ...(kind === 'StatefulSet' && { serviceName: name }),
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image }], ...more },
    },
  };
  return createManifest('apps/v1', kind, { name, ...parts, more: { spec } });
}

/** A Job with a name, or with the beginning of one. */
export function createJob(metadata: JsonObject): Manifest {
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.test/job:1' }] };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template: { spec: podSpec } } };
}

/** The definition of a custom kind of the given scope; its objects may hold anything in `spec`. */
export function createDefinition(plural: string, kind: string, scope: 'Namespaced' | 'Cluster'): Manifest {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { 'x-kubernetes-preserve-unknown-fields': true } },
    },
  };
  return createManifest('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    name: `${plural}.stable.example.com`,
    more: {
      spec: {
        group: 'stable.example.com',
        scope,
        names: { plural, singular: kind.toLowerCase(), kind },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  });
}
