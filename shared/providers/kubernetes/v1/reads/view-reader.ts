import { joinViewReaders } from '../../../../core/providers/view-set.ts';
import type { Account } from '../../../../core/settings/account.ts';
import type { ViewReader } from '../../../../core/views/views.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { type CacheReading, startReading } from '../../reads/cache-reading.ts';
import { findApplication, listApplications, listClusterNames } from '../../reads/cluster-reads.ts';
import { listNamespaces } from '../../reads/resource-reads.ts';
import type { ViewSource } from '../../reads/view-reader.ts';
import { listV1ServerGroups } from './server-group-reads.ts';

/** Views of which a V1 account has nothing. */
const nothing = { value: [], accounts: [] };

/** The views of all accounts of a session: those of V1 in the shapes of Spinnaker's V1 provider, beside `reader` for the others. */
export function joinV1ViewReader(
  session: KubernetesSession,
  { reader, ...source }: ViewSource & { readonly reader: ViewReader },
): ViewReader {
  const getNames = (accounts: readonly Account[]): string[] => accounts.map(({ name }) => name);
  return joinViewReaders([
    { accounts: getNames(session.accounts), reader },
    { accounts: getNames(session.v1Accounts), reader: createV1ViewReader(session, source) },
  ]);
}

function createV1ViewReader(session: KubernetesSession, { cache, mayRead }: ViewSource): ViewReader {
  const readable = {
    accounts: session.v1Accounts.filter(({ name }) => mayRead(name)),
    findAccount: (name: string) => (mayRead(name) ? session.findV1Account(name) : undefined),
  };
  const start = (): CacheReading => startReading(readable, cache);
  return {
    listApplications: () => listApplications(start()),
    findApplication: (application) => findApplication(start(), application),
    listClusterNames: (application) => listClusterNames(start(), application),
    listServerGroups: (request) => listV1ServerGroups(start(), request),
    listServerGroupManagers: async () => nothing,
    listClusters: async () => nothing,
    findCluster: async () => undefined,
    listServerGroupsByKeys: async () => nothing,
    findServerGroup: async () => undefined,
    findTargetServerGroup: async () => undefined,
    listLoadBalancers: async () => nothing,
    findLoadBalancer: async () => undefined,
    listSecurityGroups: async () => ({ value: {}, accounts: [] }),
    findSecurityGroup: async () => undefined,
    findInstance: async () => undefined,
    search: async () => nothing,
    listProjectClusters: async () => nothing,
    findManifest: async () => undefined,
    listRawResources: async () => nothing,
    listNamespaces: (accounts) => listNamespaces(start(), accounts),
  };
}
