import type { LiveEntry } from '../../../../../shared/core/cache/packed-row.ts';
import { toVersion } from '../../../../../shared/core/cache/version.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../../../../shared/providers/kubernetes/rows/facts.ts';
import { decodeFacts, encodeFacts } from '../../../../../shared/providers/kubernetes/rows/facts-codec.ts';
import { decodeRow, encodeRow } from '../../../../../shared/providers/kubernetes/rows/row-codec.ts';
import {
  findServerGroup,
  fromFacts,
  getEntryKey,
  selfKey,
} from '../../../../../shared/providers/kubernetes/rows/row-entries.ts';
import type { AccountFacts } from '../../../../../shared/providers/kubernetes/views/application-facts.ts';

/** The entries of a server group's row. */
export function createEntries({ facts, instances }: ServerGroupFacts): Map<string, LiveEntry> {
  const toEntry = (each: ObjectFacts): LiveEntry => ({
    version: toVersion(1, each.resourceVersion),
    value: fromFacts(each),
  });
  return new Map([
    [selfKey, toEntry(facts)],
    ...instances.map((instance) => [getEntryKey(instance), toEntry(instance)] as const),
  ]);
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
      const each = { facts: serverGroup, instances };
      return findServerGroup(decodeRow(encodeRow(createEntries(each)))) ?? each;
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
