import { isLive, type LiveEntry } from '#caching/store/packed-row.ts';
import { toRevision } from '#caching/store/revision.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { decodeFacts, encodeFacts } from '#providers/kubernetes/rows/facts-codec.ts';
import { decodeRow, encodeRow } from '#providers/kubernetes/rows/row-codec.ts';
import { asFacts, fromFacts, getEntryKey, selfKey } from '#providers/kubernetes/rows/row-entries.ts';
import type { AccountFacts } from '#providers/kubernetes/views/application-facts.ts';

/** The entries of a row of these objects: of their own, or, by their names, of pods. */
export function createEntries(objects: readonly ObjectFacts[], self?: ObjectFacts): Map<string, LiveEntry> {
  const toEntry = (each: ObjectFacts): LiveEntry => ({
    revision: toRevision(1, each.resourceVersion),
    value: fromFacts(each),
  });
  return new Map([
    ...(self === undefined ? [] : [[selfKey, toEntry(self)] as const]),
    ...objects.map((each) => [getEntryKey(each), toEntry(each)] as const),
  ]);
}

/** Objects as a reader has them: once stored in a row, and decoded. */
export function storeInRow(objects: readonly ObjectFacts[]): ObjectFacts[] {
  const entries = decodeRow(encodeRow(createEntries(objects)));
  return [...entries.values()].filter(isLive).map(({ value }) => asFacts(value));
}

/** What a reader of the cache would have of an application, had all facts been stored: each once encoded and decoded. */
export function assembleAccount(
  account: string,
  application: string,
  facts: readonly ObjectFacts[],
): AccountFacts {
  const stored = facts.map((each) => decodeFacts(encodeFacts(each)) ?? each);
  const isOwn = ({ moniker }: ObjectFacts): boolean => moniker.app === application;
  const serverGroups = stored
    .filter(({ spinnakerKind }) => spinnakerKind === 'serverGroups')
    .map((serverGroup) => {
      const instances = stored.filter(
        ({ spinnakerKind, owners }) =>
          spinnakerKind === 'instances' && owners.some(({ uid }) => uid === serverGroup.uid),
      );
      return { facts: serverGroup, instances: storeInRow(instances) };
    });
  return {
    account,
    serverGroups: serverGroups.filter((each) => isOwn(each.facts)),
    managers: stored.filter((each) => each.spinnakerKind === 'serverGroupManagers' && isOwn(each)),
    loadBalancers: stored.filter((each) => each.spinnakerKind === 'loadBalancers' && isOwn(each)),
    namespaceServices: stored.filter(({ kind }) => kind === 'service'),
    neighbours: serverGroups.filter((each) => !isOwn(each.facts)),
  };
}
