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
  /** Pods that differ from what the server group makes of them no more than {@link EncodedInstance} can say, or whole. */
  readonly i: readonly (EncodedInstance | { readonly f: EncodedFacts })[];
}

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
  /** Labels that the pod template does not have, or has with another value; null for those the pod lacks. */
  readonly l?: { readonly [key: string]: string | null };
  /** Left out for the server group's moniker without its sequence, 1 for that with it, 0 for what the pod's name says. */
  readonly m?: EncodedMoniker | 0 | 1;
  /** Left out where the server group is the one owner. */
  readonly o?: readonly EncodedOwner[];
}

/** What a server group says of its pods. */
interface PodPattern {
  readonly serverGroup: ObjectFacts;
  readonly labels: TextMap;
  readonly moniker: Moniker;
  readonly owners: readonly OwnerFacts[];
}

/** A server group with its pods as compact JSON text: of a pod it holds only what the server group does not say. */
export function encodeServerGroup({ facts, instances }: ServerGroupFacts): string {
  const pattern = createPattern(facts);
  const encoded: EncodedServerGroup = {
    v: factsVersion,
    g: toEncodedFacts(facts),
    i: instances.map((instance) =>
      isOfPattern(instance, pattern) ? encodeInstance(instance, pattern) : { f: toEncodedFacts(instance) },
    ),
  };
  return JSON.stringify(encoded);
}

/** The server group in a text of {@link encodeServerGroup}; undefined when that is of another version. */
export function decodeServerGroup(text: string): ServerGroupFacts | undefined {
  const encoded = JSON.parse(text) as EncodedServerGroup;
  if (encoded.v !== factsVersion) return undefined;
  const facts = fromEncodedFacts(encoded.g);
  const pattern = createPattern(facts);
  return {
    facts,
    instances: encoded.i.map((instance) =>
      'f' in instance ? fromEncodedFacts(instance.f) : decodeInstance(instance, pattern),
    ),
  };
}

function createPattern(serverGroup: ObjectFacts): PodPattern {
  const { kind, name, uid, moniker, workload } = serverGroup;
  return {
    serverGroup,
    labels: workload?.podLabels ?? {},
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

function encodeInstance(instance: ObjectFacts, pattern: PodPattern): EncodedInstance {
  const { name, createdTime, pod, labels, owners } = instance;
  const prefix = pattern.serverGroup.name;
  const moniker = encodeInstanceMoniker(instance, pattern);
  return {
    n: name.startsWith(`${prefix}-`) ? name.slice(prefix.length) : name,
    u: instance.uid,
    r: instance.resourceVersion,
    ...(createdTime !== undefined && { t: createdTime / 1000 }),
    ...(pod?.phase !== 'Running' && { p: pod?.phase ?? '' }),
    c: encodeContainers(pod?.containers ?? []),
    ...(!isSameTextMap(labels, pattern.labels) && { l: diffLabels(labels, pattern.labels) }),
    ...(moniker !== undefined && { m: moniker }),
    ...(!isDeepStrictEqual(owners, pattern.owners) && { o: owners.map(encodeOwner) }),
  };
}

/** Labels and owners of pods that are as their server group says are one object for all of them. */
function decodeInstance(encoded: EncodedInstance, pattern: PodPattern): ObjectFacts {
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
    labels: encoded.l === undefined ? pattern.labels : mergeLabels(pattern.labels, encoded.l),
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

function diffLabels(labels: TextMap, base: TextMap): { [key: string]: string | null } {
  const own = Object.entries(labels).filter(([key, value]) => base[key] !== value);
  const lacking = Object.keys(base).filter((key) => !Object.hasOwn(labels, key));
  return Object.fromEntries<string | null>([...own, ...lacking.map((key) => [key, null] as const)]);
}

function mergeLabels(base: TextMap, changes: { readonly [key: string]: string | null }): TextMap {
  const entries = Object.entries({ ...base, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}
