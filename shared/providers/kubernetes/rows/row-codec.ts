import { isDeepStrictEqual } from 'node:util';
import { isLive, type LiveEntry, type RowEntry } from '../../../core/cache/packed-row.ts';
import type { Version } from '../../../core/cache/version.ts';
import type { Moniker } from '../../../core/moniker.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { ObjectFacts, OwnerFacts } from './facts.ts';
import {
  decodeContainers,
  decodeOwner,
  type EncodedFacts,
  type EncodedOwner,
  encodeContainers,
  encodeOwner,
  factsVersion,
  fromEncodedFacts,
  toEncodedFacts,
} from './facts-codec.ts';
import { createVariants, type LabelChanges, mergeLabels } from './label-variants.ts';
import {
  decodeMoniker,
  type EncodedMoniker,
  encodeMoniker,
  isSameMoniker,
  omitSequence,
} from './moniker-codec.ts';
import { asFacts, fromFacts, getEntryKey, selfKey } from './row-entries.ts';

/** A row as it is stored: with a server group's entry its pods are what that does not say of them. */
interface EncodedRow {
  readonly v: number;
  /** The epoch of most versions, as their text begins. */
  readonly e: string;
  /** The entry of the row's own object. */
  readonly g?: WholeEntry;
  /** Labels of pods: the first is variant 1, since 0 is those of the pod template. */
  readonly l?: readonly LabelChanges[];
  readonly i?: readonly (EncodedInstance | WholeEntry)[];
  /** Entries that were removed: key, version, when the row heard of it. */
  readonly x?: readonly (readonly [string, Version, number])[];
}

/** What an entry has beside its facts. */
interface EntryParts {
  /** Left out where it is the facts' resource version in the row's epoch. */
  readonly V?: Version;
  /** Left out for the usual key. */
  readonly K?: string;
}

/** An entry that stands for itself. */
interface WholeEntry extends EntryParts {
  readonly f: EncodedFacts;
}

/** A pod, by what the server group does not say of it. */
interface EncodedInstance extends EntryParts {
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

/**
 * A row's entries as compact JSON text. Their values must be facts (`fromFacts`). Entries that stand in one text may be told by
 * each other, since they are always written together.
 */
export function encodeRow(entries: ReadonlyMap<string, RowEntry>): string {
  const live = [...entries].filter((entry): entry is [string, LiveEntry] => isLive(entry[1]));
  const epoch = getEpoch(live[0]?.[1].version ?? '');
  const self = live.find(([key]) => key === selfKey);
  const pattern = self && createPattern(asFacts(self[1].value));
  const variants = createVariants(pattern?.podLabels ?? {});
  const others = live.filter((entry) => entry !== self);
  const instances = others.map(([key, { version, value }]) => {
    const facts = asFacts(value);
    const parts = {
      ...(version !== toVersionText(epoch, facts.resourceVersion) && { V: version }),
      ...(key !== getEntryKey(facts) && { K: key }),
    };
    if (pattern === undefined || !isOfPattern(facts, pattern)) return { f: toEncodedFacts(facts), ...parts };
    return { ...encodeInstance(facts, pattern, variants.find(facts.labels)), ...parts };
  });
  const gone = [...entries].flatMap(([key, entry]) =>
    isLive(entry) ? [] : [[key, entry.version, entry.goneAtMs] as const],
  );
  const encoded: EncodedRow = {
    v: factsVersion,
    e: epoch,
    ...(self && { g: encodeSelf(self[1], epoch) }),
    ...(variants.changes.length > 0 && { l: variants.changes }),
    ...(instances.length > 0 && { i: instances }),
    ...(gone.length > 0 && { x: gone }),
  };
  return JSON.stringify(encoded);
}

/** The entries in a text of {@link encodeRow}; none when that is of another version. Equal parts of them are one object. */
export function decodeRow(text: string): Map<string, RowEntry> {
  const encoded = JSON.parse(text) as EncodedRow;
  const entries = new Map<string, RowEntry>();
  if (encoded.v !== factsVersion) return entries;
  const { e: epoch, g: self, l: changes = [], i: instances = [], x: gone = [] } = encoded;
  const add = (facts: ObjectFacts, { V, K }: EntryParts): void => {
    const version = V ?? toVersionText(epoch, facts.resourceVersion);
    entries.set(K ?? getEntryKey(facts), { version, value: fromFacts(facts) });
  };
  const selfFacts = self && fromEncodedFacts(self.f);
  const pattern = selfFacts && createPattern(selfFacts);
  const podLabels = pattern?.podLabels ?? {};
  const variants = [podLabels, ...changes.map((change) => mergeLabels(podLabels, change))];
  if (self && selfFacts) add(selfFacts, { ...self, K: selfKey });
  for (const instance of instances) {
    if ('f' in instance) add(fromEncodedFacts(instance.f), instance);
    else if (pattern)
      add(decodeInstance(instance, pattern, variants[instance.l ?? 0] ?? podLabels), instance);
  }
  for (const [key, version, goneAtMs] of gone) entries.set(key, { version, goneAtMs });
  return entries;
}

function encodeSelf({ version, value }: LiveEntry, epoch: string): WholeEntry {
  const facts = asFacts(value);
  const isUsual = version === toVersionText(epoch, facts.resourceVersion);
  return { f: toEncodedFacts(facts), ...(!isUsual && { V: version }) };
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

/** What a version's text begins with. */
function getEpoch(version: string): string {
  return version.slice(0, version.indexOf('.'));
}

/** The version that a resource version has in an epoch. */
function toVersionText(epoch: string, resourceVersion: string): Version {
  return `${epoch}.${resourceVersion.padStart(19, '0')}` as Version;
}
