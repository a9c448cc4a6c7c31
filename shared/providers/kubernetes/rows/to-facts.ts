import type { KubernetesObject } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import type { KindRegistry } from '../kinds/index.ts';
import { readLabels } from '../manifest/annotations.ts';
import {
  readCreationTimestamp,
  readKind,
  readMoniker,
  readName,
  readNamespace,
  readOwners,
} from '../manifest/identity.ts';
import type { ObjectFacts } from './facts.ts';
import { readIngressFacts, readNetworkPolicyFacts, readServiceFacts } from './network-facts.ts';
import { readPodFacts, readWorkloadFacts } from './workload-facts.ts';

/**
 * The facts of a live object. Any object has facts: missing and malformed parts count as absent.
 *
 * @param registry the kinds of the object's account: they decide what counts as a server group
 */
export function toFacts(manifest: Manifest, registry: Pick<KindRegistry, 'find'>): ObjectFacts {
  const { apiVersion, metadata } = asUnchecked<KubernetesObject>(manifest);
  const kind = readKind(manifest);
  const { spinnakerKind } = registry.find(kind);
  const createdTime = readCreatedTime(manifest);
  return {
    kind,
    spinnakerKind,
    apiVersion: (asString(apiVersion) ?? '').toLowerCase(),
    namespace: readNamespace(manifest),
    name: readName(manifest),
    uid: asString(metadata?.uid) ?? '',
    resourceVersion: asString(metadata?.resourceVersion) ?? '',
    ...(createdTime !== undefined && { createdTime }),
    labels: readLabels(manifest),
    moniker: readMoniker(manifest),
    owners: readOwners(manifest).map(({ kind, name, uid }) => ({
      kind,
      name,
      uid,
      isManager: registry.find(kind).spinnakerKind === 'serverGroupManagers',
    })),
    ...(spinnakerKind === 'serverGroups' && { workload: readWorkloadFacts(manifest) }),
    ...(kind === 'pod' && { pod: readPodFacts(manifest) }),
    ...(kind === 'service' && { service: readServiceFacts(manifest) }),
    ...(kind === 'ingress' && { ingress: readIngressFacts(manifest) }),
    ...(kind === 'networkPolicy' && { networkPolicy: readNetworkPolicyFacts(manifest) }),
  };
}

/** Epoch milliseconds, to the second, of `metadata.creationTimestamp`. */
function readCreatedTime(manifest: Manifest): number | undefined {
  const time = Date.parse(readCreationTimestamp(manifest));
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000) * 1000;
}
