import { isDeepStrictEqual } from 'node:util';
import type { Moniker } from '../../../core/moniker.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { ObjectFacts, OwnerFacts, ServerGroupFacts } from './facts.ts';
import {
  decodeContainers,
  decodeOwner,
  type EncodedFacts,
  type EncodedOwner,
  encodeContainers,
  encodeOwner,
  factsVersion,
  fromEncodedFacts,
  isSameTextMap,
  toEncodedFacts,
} from './facts-codec.ts';
import {
  decodeMoniker,
  type EncodedMoniker,
  encodeMoniker,
  isSameMoniker,
  omitSequence,
} from './moniker-codec.ts';

/** A server group with its pods as it is stored. */
interface EncodedServerGroup {
  readonly v: number;
  readonly g: EncodedFacts;
  /** What pods have of labels: the first entry is their variant 1, since 0 is the pod template's own labels. */
  readonly l?: readonly LabelChanges[];
  /** Pods that differ from what the server group makes of them no more than {@link EncodedInstance} can say, or whole. */
  readonly i: readonly (EncodedInstance | { readonly f: EncodedFacts })[];
}

/** Labels that the pod template does not have, or has with another value; null for those that pods lack. */
type LabelChanges = { readonly [key: string]: string | null };

/** A pod, by what the server group does not say of it. */
interface EncodedInstance {
  /** Its name; begins with a dash where the server group's name stands before that. */
  readonly n: string;
  readonly u: string;
  readonly r: string;
  /** Creation in epoch seconds. */
  readonly t?: number;
  /** Phase; left out for `Running`. */
  readonly p?: string;
  readonly c: readonly string[];
  /** Variant of its labels; left out for 0. */
  readonly l?: number;
  /** Left out for the server group's moniker without its sequence, 1 for that with it, 0 for what the pod's name says. */
  readonly m?: EncodedMoniker | 0 | 1;
  /** Left out where the server group is the one owner. */
  readonly o?: readonly EncodedOwner[];
}

/** What a server group says of its pods. */
interface PodPattern {
  readonly serverGroup: ObjectFacts;
  readonly podLabels: TextMap;
  readonly moniker: Moniker;
  readonly owners: readonly OwnerFacts[];
}

/** A server group with its pods as compact JSON text: of a pod it holds only what the server group does not say. */
export function encodeServerGroup({ facts, instances }: ServerGroupFacts): string {
  const pattern = createPattern(facts);
  const variants = new Map<string, number>();
  const changes: LabelChanges[] = [];
  const findVariant = (labels: TextMap): number => {
    if (isSameTextMap(labels, pattern.podLabels)) return 0;
    const change = diffLabels(labels, pattern.podLabels);
    const key = JSON.stringify(change);
    const variant = variants.get(key) ?? changes.push(change);
    variants.set(key, variant);
    return variant;
  };
  const encodedInstances = instances.map((instance) =>
    isOfPattern(instance, pattern)
      ? encodeInstance(instance, pattern, findVariant(instance.labels))
      : { f: toEncodedFacts(instance) },
  );
  const encoded: EncodedServerGroup = {
    v: factsVersion,
    g: toEncodedFacts(facts),
    ...(changes.length > 0 && { l: changes }),
    i: encodedInstances,
  };
  return JSON.stringify(encoded);
}

/** The server group in a text of {@link encodeServerGroup}; undefined when that is of another version. */
export function decodeServerGroup(text: string): ServerGroupFacts | undefined {
  const encoded = JSON.parse(text) as EncodedServerGroup;
  if (encoded.v !== factsVersion) return undefined;
  const facts = fromEncodedFacts(encoded.g);
  const pattern = createPattern(facts);
  const { podLabels } = pattern;
  const variants = [podLabels, ...(encoded.l ?? []).map((changes) => mergeLabels(podLabels, changes))];
  return {
    facts,
    instances: encoded.i.map((instance) =>
      'f' in instance
        ? fromEncodedFacts(instance.f)
        : decodeInstance(instance, pattern, variants[instance.l ?? 0] ?? podLabels),
    ),
  };
}

function createPattern(serverGroup: ObjectFacts): PodPattern {
  const { kind, name, uid, moniker, workload } = serverGroup;
  return {
    serverGroup,
    podLabels: workload?.podLabels ?? {},
    moniker: omitSequence(moniker),
    owners: [{ kind, name, uid, isManager: false }],
  };
}

/** Whether an instance is a pod in its server group's namespace; a custom kind's need not be. */
function isOfPattern(
  { kind, apiVersion, namespace, spinnakerKind, pod }: ObjectFacts,
  pattern: PodPattern,
): boolean {
  return (
    pod !== undefined &&
    kind === 'pod' &&
    spinnakerKind === 'instances' &&
    apiVersion === 'v1' &&
    namespace === pattern.serverGroup.namespace
  );
}

function encodeInstance(instance: ObjectFacts, pattern: PodPattern, variant: number): EncodedInstance {
  const { name, createdTime, pod, owners } = instance;
  const prefix = pattern.serverGroup.name;
  const moniker = encodeInstanceMoniker(instance, pattern);
  return {
    n: name.startsWith(`${prefix}-`) ? name.slice(prefix.length) : name,
    u: instance.uid,
    r: instance.resourceVersion,
    ...(createdTime !== undefined && { t: createdTime / 1000 }),
    ...(pod?.phase !== 'Running' && { p: pod?.phase ?? '' }),
    c: encodeContainers(pod?.containers ?? []),
    ...(variant > 0 && { l: variant }),
    ...(moniker !== undefined && { m: moniker }),
    ...(!isDeepStrictEqual(owners, pattern.owners) && { o: owners.map(encodeOwner) }),
  };
}

/** Equal labels, and owners as the server group says, are one object for all pods of it. */
function decodeInstance(encoded: EncodedInstance, pattern: PodPattern, labels: TextMap): ObjectFacts {
  const { serverGroup } = pattern;
  const name = encoded.n.startsWith('-') ? serverGroup.name + encoded.n : encoded.n;
  return {
    kind: 'pod',
    spinnakerKind: 'instances',
    apiVersion: 'v1',
    namespace: serverGroup.namespace,
    name,
    uid: encoded.u,
    resourceVersion: encoded.r,
    createdTime: encoded.t === undefined ? undefined : encoded.t * 1000,
    labels,
    moniker: decodeInstanceMoniker(encoded.m, name, pattern),
    owners: encoded.o?.map(decodeOwner) ?? pattern.owners,
    pod: { phase: encoded.p ?? 'Running', containers: decodeContainers(encoded.c) },
  };
}

function encodeInstanceMoniker({ moniker, name }: ObjectFacts, pattern: PodPattern): EncodedInstance['m'] {
  if (isSameMoniker(moniker, pattern.moniker)) return undefined;
  return isSameMoniker(moniker, pattern.serverGroup.moniker) ? 1 : (encodeMoniker(moniker, name) ?? 0);
}

function decodeInstanceMoniker(encoded: EncodedInstance['m'], name: string, pattern: PodPattern): Moniker {
  if (encoded === undefined) return pattern.moniker;
  if (encoded === 1) return pattern.serverGroup.moniker;
  return decodeMoniker(encoded === 0 ? undefined : encoded, name);
}

function diffLabels(labels: TextMap, base: TextMap): LabelChanges {
  const own = Object.entries(labels).filter(([key, value]) => base[key] !== value);
  const lacking = Object.keys(base).filter((key) => !Object.hasOwn(labels, key));
  return Object.fromEntries<string | null>([...own, ...lacking.map((key) => [key, null] as const)]);
}

function mergeLabels(base: TextMap, changes: LabelChanges): TextMap {
  const merged: { [key: string]: string } = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete merged[key];
    else merged[key] = value;
  }
  return merged;
}
