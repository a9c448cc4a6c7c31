import type { Moniker } from '../../../core/moniker.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts, ApplicationFacts } from './application-facts.ts';
import { cloudProvider, type ResourceView, toResourceView } from './resource-view.ts';

/** A server group of a manager. */
export interface ManagedServerGroupView {
  /** Full name. */
  readonly name: string;
  readonly account: string;
  readonly namespace: string;
  /** The namespace again. */
  readonly region: string;
  readonly moniker: Moniker;
}

/** A server group manager: a Deployment. Unlike other views it has no `type`. */
export interface ServerGroupManagerView extends ResourceView {
  readonly cloudProvider: typeof cloudProvider;
  /** Those it owns, of whatever application. */
  readonly serverGroups: readonly ManagedServerGroupView[];
}

/** The application's server group managers. */
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
      const filed = owned.get(uid);
      if (filed === undefined) owned.set(uid, [facts]);
      else filed.push(facts);
    }
  }
  return owned;
}

function toManagedServerGroupView(account: string, facts: ObjectFacts): ManagedServerGroupView {
  const { kind, name, namespace, moniker } = facts;
  return { name: formatFullName(kind, name), account, namespace, region: namespace, moniker };
}
