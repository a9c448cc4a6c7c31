import type { ServerGroupManagerView } from '#contract/answers/server-groups.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts, ApplicationFacts } from './application-facts.ts';
import { cloudProvider, toResourceView } from './resource-view.ts';

/** A server group of a manager. */
type ManagedServerGroupView = ServerGroupManagerView['serverGroups'][number];

/** The application's server group managers, each with the server groups that it owns, of any application. */
export function toServerGroupManagerViews({ accounts }: ApplicationFacts): ServerGroupManagerView[] {
  return accounts.flatMap(toAccountManagerViews);
}

function toAccountManagerViews(facts: AccountFacts): ServerGroupManagerView[] {
  const { account, managers, serverGroups, neighbours } = facts;
  const owned = groupByOwner([...serverGroups, ...neighbours]);
  return managers.map((manager) => ({
    ...toResourceView(account, manager),
    cloudProvider,
    serverGroups: (owned.get(manager.uid) ?? []).map((serverGroup) =>
      toManagedServerGroupView(account, serverGroup),
    ),
  }));
}

/** Server groups by the uids of their owners: another object of an owner's name owns nothing. */
function groupByOwner(
  serverGroups: readonly ServerGroupFacts[],
): ReadonlyMap<string, readonly ObjectFacts[]> {
  const owned = new Map<string, ObjectFacts[]>();
  for (const { facts } of serverGroups) {
    for (const { uid } of facts.owners) {
      getOrAdd(owned, uid, () => []).push(facts);
    }
  }
  return owned;
}

function toManagedServerGroupView(account: string, facts: ObjectFacts): ManagedServerGroupView {
  const { kind, name, namespace, moniker } = facts;
  return { name: formatFullName(kind, name), account, namespace, region: namespace, moniker };
}
