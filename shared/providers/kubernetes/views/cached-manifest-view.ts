import type { WrittenManifestView } from '#contract/answers/manifests.ts';
import { type JsonObject, omitNulls, withDoubles } from '#core/json.ts';
import { toArtifactView } from '#provider-kit/artifact.ts';
import type { CachedManifestRequest } from '#views/views.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { builtInResources } from '../api/built-in-resources.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatFullName, getKindName, splitKind, toKindKey } from '../kinds/name.ts';
import type { ManifestStatus } from '../kinds/status.ts';
import { annotationKeys } from '../manifest/annotations.ts';
import { findArtifacts } from '../manifest/artifacts.ts';
import type { ObjectFacts, WorkloadFacts } from '../rows/facts.ts';

/** Why an object is shown from the cache, and how old the cache is. */
type Circumstances = Pick<CachedManifestRequest, 'reason' | 'nowMs' | 'asOfMs'>;

/**
 * A cached object, as if it were read from its cluster: `metadata`, and the parts of `spec` and `status` that views show. The objects and
 * lists that Deck reads without a check are always present, perhaps empty.
 */
export function toCachedManifestView(
  account: Pick<KubernetesAccount, 'name' | 'kindRegistry'>,
  facts: ObjectFacts,
  circumstances: Circumstances,
): WrittenManifestView {
  const { kind, namespace, name, moniker } = facts;
  const age = describeAge(circumstances);
  const manifest = toManifest(facts, age);
  return {
    account: account.name,
    name: formatFullName(kind, name),
    location: namespace,
    moniker,
    manifest: withDoubles(manifest),
    status: toUnknownStatus(age),
    artifacts: findArtifacts(manifest, account.kindRegistry.find(kind)).map(toArtifactView),
    events: [withDoubles(toWarning(manifest, circumstances, age))],
    warnings: [],
    metrics: [],
  };
}

/** `as of 2026-11-22T07:00:00.000Z, 95 s ago`. */
function describeAge({ nowMs, asOfMs }: Circumstances): string {
  if (asOfMs === undefined) return 'of unknown age';
  const seconds = Math.max(0, Math.floor((nowMs - asOfMs) / 1000));
  return `as of ${new Date(asOfMs).toISOString()}, ${seconds} s ago`;
}

function toManifest(facts: ObjectFacts, age: string): Manifest {
  const { apiVersion, kind, namespace, name, uid, resourceVersion, createdTime, labels, owners } = facts;
  const created = createdTime === undefined ? null : new Date(createdTime).toISOString();
  const metadata = {
    name,
    namespace: namespace || null,
    uid,
    resourceVersion,
    creationTimestamp: created?.replace('.000Z', 'Z') ?? null,
    labels: { ...labels },
    annotations: { [annotationKeys.incomplete]: `From the cache, ${age}: most of it is missing` },
    ownerReferences: owners.map((owner) => ({
      kind: toApiKind(owner.kind),
      name: owner.name,
      uid: owner.uid,
    })),
  };
  const manifest = { apiVersion, kind: toApiKind(kind), metadata, ...toSpecAndStatus(facts) };
  return omitNulls(manifest) as Manifest;
}

/** The cached parts of an object's `spec` and `status`. */
function toSpecAndStatus({ kind, workload, pod, service, spinnakerKind }: ObjectFacts): JsonObject {
  const status = { conditions: [], ...(spinnakerKind === 'loadBalancers' && { loadBalancer: {} }) };
  if (pod !== undefined) {
    const { phase, containers } = pod;
    return {
      spec: { containers: containers.map(({ name }) => ({ name })) },
      status: {
        ...status,
        phase,
        containerStatuses: containers.map(({ name, isReady }) => ({ name, ready: isReady })),
      },
    };
  }
  if (service !== undefined) return { spec: { selector: { ...service.selector } }, status };
  return { spec: workload === undefined ? {} : toWorkloadSpec(kind, workload), status };
}

function toWorkloadSpec(
  kind: string,
  { replicas, images, podLabels, serviceName }: WorkloadFacts,
): JsonObject {
  // Not cached: which container has which image, and which are init containers.
  const spec = { containers: images.map((image) => ({ image })) };
  const template = { metadata: { labels: { ...podLabels } }, spec };
  if (kind === 'cronJob') return { jobTemplate: { spec: { template } } };
  return {
    ...(replicas !== undefined && { replicas }),
    ...(serviceName !== undefined && { serviceName }),
    template,
  };
}

/** Kubernetes' spelling of a kind; for a custom one Spinnaker's, without the group. */
function toApiKind(kind: string): string {
  const key = toKindKey(kind);
  const known = builtInResources.find((resource) => {
    return toKindKey(getKindName(resource.apiVersion, resource.kind)) === key;
  });
  return known?.kind ?? splitKind(kind).name;
}

/** A status with which waiting callers keep waiting. */
function toUnknownStatus(age: string): ManifestStatus {
  const unknown = { state: false, message: `Unknown: its cluster does not answer; shown ${age}` };
  return { stable: unknown, available: unknown, paused: { state: false }, failed: { state: false } };
}

function toWarning({ kind, metadata }: Manifest, { reason, nowMs, asOfMs }: Circumstances, age: string) {
  const { name, namespace, uid } = metadata as { name: string; namespace?: string; uid: string };
  const time = (ms: number): string => new Date(ms).toISOString();
  const involvedObject = { kind: kind ?? null, name, namespace: namespace ?? null, uid };
  const message =
    `This comes from the cache, ${age}. ${reason} What the cache does not keep is missing: most of the spec, the conditions, ` +
    'annotations, events, and all data and values of ConfigMaps and Secrets.';
  return omitNulls({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.from-cache`, namespace: namespace ?? null, uid: `from-cache-${uid}` },
    type: 'Warning',
    reason: 'ReadFromCache',
    message,
    count: 1,
    firstTimestamp: time(asOfMs ?? nowMs),
    lastTimestamp: time(nowMs),
    involvedObject,
    source: { component: 'busdriver' },
  });
}
