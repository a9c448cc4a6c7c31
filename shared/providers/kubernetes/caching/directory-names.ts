import type { DirectoryNames } from '../../../core/cache/cache-store.ts';
import { asFacts, selfKey } from '../views/row-entries.ts';
import { hasCluster } from './object-writes.ts';
import { forEachAtOnce, untilWritten, type Writing } from './writing.ts';

/** Applications pruned at a time: all rows of each are read. */
const concurrency = 4;

/**
 * Takes from the directory what applications do not have any more in the account.
 *
 * @returns those that must be looked at again at least five minutes later.
 */
export async function pruneApplications(writing: Writing, applications: Iterable<string>): Promise<string[]> {
  const { cache, account } = writing;
  const waiting: string[] = [];
  const act = async (application: string): Promise<void> => {
    const readLeft = (): Promise<DirectoryNames> => readNamesLeft(writing, application);
    const waits = await untilWritten(writing, () =>
      cache.pruneApplication(application, account.name, readLeft),
    );
    if (waits) waiting.push(application);
  };
  await forEachAtOnce([...new Set(applications)], act, concurrency);
  return waiting.sort();
}

/** What an application has in the account, by its rows. Pods alone make up nothing. */
async function readNamesLeft({ cache, account }: Writing, application: string): Promise<DirectoryNames> {
  const clusters = new Set<string>();
  const namespaces = new Set<string>();
  for await (const rows of cache.listRows(application, account.name, { consistent: true })) {
    for (const row of rows) {
      const own = row.read().get(selfKey);
      if (own === undefined) continue;
      const { spinnakerKind, moniker, namespace } = asFacts(own.value);
      if (hasCluster(spinnakerKind) && moniker.cluster) clusters.add(moniker.cluster);
      namespaces.add(namespace);
    }
  }
  return { clusters: [...clusters].sort(), namespaces: [...namespaces].sort() };
}
