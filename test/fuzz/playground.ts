import type { JsonObject, JsonValue } from '#core/json.ts';

/** Where a fuzz run may do as it likes. */
export interface Playground {
  /** An account that may make namespaces. */
  readonly account: string;
  readonly otherAccounts: readonly string[];
  readonly namespace: string;
  /** Ids of tasks that ended well and badly. */
  readonly taskIds: readonly string[];
}

/** A request that succeeds, or nearly: what to put in which of its places. */
export interface Hit {
  /** Parameters by name, none that the route does not have. */
  readonly path?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly header?: { readonly [name: string]: string };
  readonly body?: JsonValue;
  /** Whether the body is sent as it is and never changed a little. */
  readonly fixed?: boolean;
}

/** Requests by method and path, as `functions/routes.ts` writes them. */
export type Hits = { readonly [route: string]: readonly Hit[] };

/** Text within Secrets only, as it is and in base64. */
export const plantedSecret = { text: 'planted-by-fuzz-4711', encoded: 'cGxhbnRlZC1ieS1mdXp6LTQ3MTE=' };

/** Start of a task's id for which a task is made that may be started again. */
export const retryableMark = '@retryable@';

/** Application of everything that a run deploys. */
export const application = 'fuzz';

/** Objects that are there to be read: no request aims to change them, and the Job is made again and again. */
export const kept = {
  configMap: 'configMap settings-v000',
  cluster: 'replicaSet keeper',
  deployment: 'deployment keeper',
  job: 'job keeper',
  networkPolicy: 'networkPolicy keeper',
  pod: 'pod keeper',
} as const;

export function createKeptManifests(namespace: string): readonly JsonObject[] {
  const labels = { role: 'kept' };
  const pod = { containers: [{ name: 'main', image: 'example.invalid/app:1' }] };
  const workload = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: pod },
  };
  return [
    toManifest('v1 ConfigMap settings', namespace, { data: { color: 'blue' } }),
    toManifest('apps/v1 Deployment keeper', namespace, { spec: workload }),
    toManifest('apps/v1 ReplicaSet keeper', namespace, { spec: workload }),
    toManifest('v1 Pod keeper', namespace, { spec: pod }),
    toManifest('networking.k8s.io/v1 NetworkPolicy keeper', namespace, { spec: { podSelector: {} } }),
  ];
}

export function createScratchManifests(namespace: string): readonly JsonObject[] {
  const labels = { app: 'frontend', role: 'scratch' };
  const spec = { containers: [{ name: 'main', image: 'example.invalid/app:1' }] };
  const workload = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec },
  };
  return [
    toManifest('v1 ConfigMap flags', namespace, { data: { color: 'blue' } }),
    toManifest('apps/v1 Deployment frontend', namespace, { spec: workload }),
    toManifest('apps/v1 ReplicaSet backend', namespace, { spec: workload }),
    toManifest('batch/v1 Job keeper', namespace, {
      spec: { template: { spec: { ...spec, restartPolicy: 'Never' } } },
    }),
    toManifest('v1 Service frontend', namespace, {
      spec: { selector: { lb: 'frontend' }, ports: [{ port: 80 }] },
    }),
  ];
}

/**
 * A manifest with the label by which scratch is deleted.
 *
 * @param identity `apiVersion kind name`
 * @param fields what else it has
 */
export function toManifest(identity: string, namespace: string, fields: JsonObject): JsonObject {
  const [apiVersion = '', kind = '', name = ''] = identity.split(' ');
  return { apiVersion, kind, metadata: { name, namespace, labels: { role: 'scratch' } }, ...fields };
}
