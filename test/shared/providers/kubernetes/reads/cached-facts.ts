import type { CacheStore, RowChanges } from '../../../../../shared/core/cache/cache-store.ts';
import { toVersion } from '../../../../../shared/core/cache/version.ts';
import type { ObjectFacts } from '../../../../../shared/providers/kubernetes/views/facts.ts';
import { encodeFacts } from '../../../../../shared/providers/kubernetes/views/facts-codec.ts';
import {
  fromFacts,
  getEntryKey,
  selfKey,
} from '../../../../../shared/providers/kubernetes/views/row-entries.ts';

const views: { readonly [spinnakerKind: string]: string } = {
  serverGroups: 'serverGroups',
  serverGroupManagers: 'managers',
  loadBalancers: 'loadBalancers',
  securityGroups: 'securityGroups',
};

export async function fillCache(
  cache: CacheStore,
  account: string,
  all: readonly ObjectFacts[],
): Promise<void> {
  const rows = new Map<string, Map<string, RowChanges>>();
  const names = new Map<string, { clusters: Set<string>; namespaces: Set<string> }>();
  for (const facts of all) {
    const { kind, namespace, name, spinnakerKind, moniker } = facts;
    await cache.putObject({
      key: { account, kind, namespace, name },
      version: toVersion(1, facts.resourceVersion),
      application: moniker.app,
      body: encodeFacts(facts),
    });
    const owner =
      spinnakerKind === 'instances' && all.find(({ uid }) => facts.owners.some((o) => o.uid === uid));
    const home = owner || facts;
    const application = home.moniker.app;
    if (!application) continue;
    const noted = names.get(application) ?? { clusters: new Set(), namespaces: new Set() };
    names.set(application, noted);
    noted.namespaces.add(namespace);
    if (moniker.cluster && spinnakerKind.startsWith('serverGroup')) noted.clusters.add(moniker.cluster);
    const view = views[home.spinnakerKind] ?? 'resources';
    const row = `${home.kind} ${home.namespace} ${home.name}`;
    const own = rows.get(application) ?? new Map<string, RowChanges>();
    rows.set(application, own);
    const change = {
      key: home === facts ? selfKey : getEntryKey(facts),
      version: toVersion(1, facts.resourceVersion),
      seenAt: toVersion(1, facts.resourceVersion),
      value: fromFacts(facts),
    };
    const known = own.get(`${view} ${row}`);
    own.set(`${view} ${row}`, { view, row, changes: [...(known?.changes ?? []), change] });
  }
  for (const [application, { clusters, namespaces }] of names) {
    await cache.noteApplication(application, account, {
      clusters: [...clusters],
      namespaces: [...namespaces],
    });
    await cache.mergeRows(application, account, [...(rows.get(application)?.values() ?? [])]);
  }
}
