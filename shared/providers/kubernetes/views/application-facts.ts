import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';

/** The cached facts of an application in one account. */
export interface AccountFacts {
  readonly account: string;
  /** The application's server groups, with their pods. */
  readonly serverGroups: readonly ServerGroupFacts[];
  /** The application's server group managers: Deployments. */
  readonly managers: readonly ObjectFacts[];
  /** The application's services and ingresses. */
  readonly loadBalancers: readonly ObjectFacts[];
  /** Every service, of any application, in the namespaces of the application's objects. */
  readonly namespaceServices: readonly ObjectFacts[];
  /**
   * Server groups of other applications in those namespaces: a service may select their pods, and a manager may own them. Only the views of
   * load balancers and of managers use them.
   */
  readonly neighbours: readonly ServerGroupFacts[];
}

/** The cached facts of an application. */
export interface ApplicationFacts {
  readonly application: string;
  readonly accounts: readonly AccountFacts[];
}

/**
 * The application with only those server groups and managers that belong to one of the clusters.
 *
 * @param clusters `account:cluster` each, as callers write them; an entry that lacks either part names none
 */
export function selectClusters(facts: ApplicationFacts, clusters: readonly string[]): ApplicationFacts {
  const wanted = new Set(clusters);
  const accounts = facts.accounts.map((account) => {
    const isWanted = ({ moniker }: ObjectFacts): boolean =>
      Boolean(moniker.cluster) && wanted.has(`${account.account}:${moniker.cluster}`);
    return {
      ...account,
      serverGroups: account.serverGroups.filter((serverGroup) => isWanted(serverGroup.facts)),
      managers: account.managers.filter(isWanted),
    };
  });
  return { ...facts, accounts };
}
