import fc from 'fast-check';
import { getObjectName } from '#caching/store/object-names.ts';
import type { ObjectChange } from '#providers/kubernetes/cache-writer/object-change.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { findRowApplication, getRowName, rowViews } from '#providers/kubernetes/rows/row-names.ts';
import { object, pod, replicaSet, service } from '../caching/small-cluster.ts';
import { type CachedApplication, gone, put } from '../caching/written-cache.ts';

/** What happened in a cluster: the changes in their order, each with a revision of its own. */
export type ClusterHistory = readonly ObjectChange[];

/** Some changes that are told together, and by whom. */
export interface Telling {
  /** Which changes; of an object's only the last is told. */
  readonly picks: readonly number[];
  readonly writer: number;
  /** After so many calls of the store the writer dies, and what it did is done again. */
  readonly diesAfter: number | undefined;
  /** Whether the repetition knows what became of the objects meanwhile. */
  readonly isRepeatedLater: boolean;
}

interface Step {
  readonly subject: number;
  readonly app: string;
  readonly cluster: string | undefined;
  readonly owner: number;
  readonly isGone: boolean;
}

const owners = [
  { kind: 'replicaSet', name: 'cart-v001' },
  { kind: 'replicaSet', name: 'cart-v002' },
  { kind: 'statefulSet', name: 'db' },
] as const;

const subjectCount = 10;

/** Where the one service of the cluster stands. */
const serviceRow = 'services services shop 15';

/** Server groups, pods that change their owners, a service, a manager and a config map, made, changed, deleted and made anew. */
export const arbitraryHistory: fc.Arbitrary<ClusterHistory> = createHistory({
  // Server groups are what is difficult.
  subject: fc.oneof(fc.nat(2), fc.nat(subjectCount - 1)),
  owner: fc.nat(owners.length),
});

/** The same, mostly of one server group and two pods of it: what writers get in each other's way with. */
export const arbitraryContest: fc.Arbitrary<ClusterHistory> = createHistory({
  subject: fc.oneof(
    { arbitrary: fc.constant(0), weight: 5 },
    { arbitrary: fc.constantFrom(3, 4), weight: 4 },
    { arbitrary: fc.nat(subjectCount - 1), weight: 1 },
  ),
  owner: fc.oneof({ arbitrary: fc.constant(0), weight: 6 }, { arbitrary: fc.nat(owners.length), weight: 1 }),
});

function createHistory(choice: {
  readonly subject: fc.Arbitrary<number>;
  readonly owner: fc.Arbitrary<number>;
}): fc.Arbitrary<ClusterHistory> {
  const step = fc.record({
    ...choice,
    app: fc.constantFrom('cart', 'shop', ''),
    cluster: fc.constantFrom(undefined, 'main'),
    isGone: fc.nat(3).map((dice) => dice === 0),
  });
  return fc.array(step, { minLength: 3, maxLength: 16 }).map((steps) => steps.map(toChange));
}

/** How a history is told: any changes, in any order, several times; in the end each object's last change was told. */
export function arbitraryTellings(history: ClusterHistory): fc.Arbitrary<Telling[]> {
  const telling = fc.record({
    picks: fc.array(fc.nat(history.length - 1), { minLength: 1, maxLength: 4 }),
    writer: fc.nat(1),
    diesAfter: fc.option(fc.nat(16), { nil: undefined, freq: 3 }),
    isRepeatedLater: fc.boolean(),
  });
  return fc
    .tuple(fc.array(telling, { minLength: 2, maxLength: 6 }), fc.infiniteStream(fc.nat(50)))
    .map(([tellings, places]) => {
      const all = tellings.map((each) => ({ ...each, picks: [...each.picks] }));
      for (const index of listLast(history)) {
        if (all.some(({ picks }) => picks.includes(index))) continue;
        all[(places.next().value ?? 0) % all.length]?.picks.push(index);
      }
      return all;
    });
}

/** The changes that a telling tells: of each object the last one that it picks, or, told later, the last one that there is. */
export function listTold(
  history: ClusterHistory,
  { picks }: Pick<Telling, 'picks'>,
  isLater = false,
): ObjectChange[] {
  const told = new Map<string, ObjectChange>();
  for (const index of [...picks].sort((one, other) => one - other)) {
    const change = history[index];
    if (change !== undefined) told.set(getObjectName(change), change);
  }
  if (!isLater) return [...told.values()];
  return history.filter(
    (change, index) => told.has(getObjectName(change)) && listLast(history).includes(index),
  );
}

/** What has to be cached in the end: a plain computation over what is there. */
export function computeCached(
  history: ClusterHistory,
  rules: { readonly allApplicationRelationships: boolean },
): { readonly [application: string]: CachedApplication } {
  const found: Record<
    string,
    { clusters: Set<string>; namespaces: Set<string>; rows: Map<string, string[]> }
  > = {};
  const live = listLast(history).flatMap((index) => history[index] ?? []);
  for (const { facts, revision } of live) {
    const application = facts && findRowApplication(facts, rules);
    if (facts === undefined || application === undefined) continue;
    found[application] ??= { clusters: new Set(), namespaces: new Set(), rows: new Map() };
    const { clusters, namespaces, rows } = found[application];
    const { spinnakerKind, moniker, namespace } = facts;
    if (spinnakerKind.startsWith('serverGroup') && moniker.cluster) clusters.add(moniker.cluster);
    namespaces.add(namespace);
    rows.set(`${rowViews[spinnakerKind]} ${getRowName(facts)}`, [`self@${toNumber(revision)}`]);
  }
  for (const { facts, revision } of live) {
    const [owner] = facts?.owners ?? [];
    if (facts === undefined || owner === undefined) continue;
    const row = `serverGroups ${getRowName({ ...owner, namespace: facts.namespace })}`;
    for (const { rows } of Object.values(found))
      rows.get(row)?.push(`pod ${facts.name}@${toNumber(revision)}`);
  }
  return Object.fromEntries(
    Object.entries(found).map(([application, { clusters, namespaces, rows }]) => [
      application,
      {
        clusters: [...clusters].sort(),
        namespaces: [...namespaces].sort(),
        rows: Object.fromEntries([...rows].map(([row, entries]) => [row, entries.sort()])),
      },
    ]),
  );
}

/** What has to stand in the rows of the one namespace: each pod with the owner that it names, each service. */
export function computeNamespace(history: ClusterHistory): CachedApplication['rows'] {
  const rows: Record<string, string[]> = {};
  for (const index of listLast(history)) {
    const { facts, revision } = history[index] ?? {};
    if (facts === undefined || revision === undefined) continue;
    const [owner] = facts.owners;
    const row =
      facts.kind === 'service'
        ? serviceRow
        : owner && `pods ${getRowName({ ...owner, namespace: facts.namespace })}`;
    if (row === undefined) continue;
    rows[row] = [...(rows[row] ?? []), `${facts.kind} ${facts.name}@${toNumber(revision)}`];
  }
  return Object.fromEntries(Object.entries(rows).map(([row, entries]) => [row, entries.sort()]));
}

/** Indexes of the last change of each object. */
function listLast(history: ClusterHistory): number[] {
  return [...new Map(history.map((change, index) => [getObjectName(change), index])).values()];
}

function toChange(step: Step, index: number): ObjectChange {
  const at = 10 + index;
  // A name that is used again means another object.
  const facts = toFacts(step, `uid at ${at}`);
  return step.isGone ? gone(facts, at) : put(facts, at);
}

function toFacts({ subject, app, cluster, owner }: Step, uid: string): ObjectFacts {
  const traits = { app, uid, ...(cluster !== undefined && { cluster }) };
  const own = owners[subject];
  if (own !== undefined) return replicaSet(own.name, { ...traits, kind: own.kind });
  if (subject < 7) {
    const named = owners[owner];
    if (named === undefined) return pod(`pod-${subject}`, undefined, traits);
    return pod(`pod-${subject}`, named.name, { ...traits, ownerKind: named.kind });
  }
  if (subject === 7) return service('cart', traits);
  return subject === 8 ? object('deployment', 'cart', traits) : object('configMap', 'cart', traits);
}

function toNumber(revision: string): string {
  return String(Number(revision.split('.')[1]));
}
