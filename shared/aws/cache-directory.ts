import type { DirectoryEntry, DirectoryNames } from '../core/cache/cache-store.ts';
import { listNames } from '../core/cache/noted-names.ts';
import { toKeyText } from './cache-keys.ts';
import { readNames } from './cache-names.ts';
import type { CacheParts } from './cache-parts.ts';
import type { Item, ItemKey } from './table.ts';

/** Partition of the directory. */
export const directoryPartition = 'APPLICATIONS';

/** See {@link CacheStore.noteApplication}. */
export async function noteApplication(
  { names }: CacheParts,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
  { clusters, namespaces }: DirectoryNames,
): Promise<void> {
  await names.note(getDirectoryKey(application, account), { clusters, namespaces }, { application, account });
}

/** See {@link CacheStore.pruneApplication}. */
export async function pruneApplication(
  { names }: CacheParts,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
  readLeft: () => Promise<DirectoryNames>,
): Promise<boolean> {
  return names.prune(getDirectoryKey(application, account), async () => {
    const { clusters, namespaces } = await readLeft();
    return { clusters, namespaces };
  });
}

/** The directory, or what it has of one application. */
export async function listDirectory(
  { table }: CacheParts,
  application?: string,
): Promise<readonly DirectoryEntry[]> {
  const prefix = application === undefined ? undefined : `${toKeyText(application)}#`;
  const entries: DirectoryEntry[] = [];
  for await (const items of table.queryPages({ pk: directoryPartition, prefix, consistent: false })) {
    entries.push(...items.map(toEntry));
  }
  return entries.filter(({ clusters, namespaces }) => clusters.length + namespaces.length > 0);
}

/** Where the directory has an application in an account. */
export function getDirectoryKey(application: string, account: string): ItemKey {
  return { pk: directoryPartition, sk: toKeyText(application, account) };
}

function toEntry(item: Item): DirectoryEntry {
  const noted = readNames(item);
  return {
    application: String(item['application']),
    account: String(item['account']),
    clusters: listNames(noted, 'clusters'),
    namespaces: listNames(noted, 'namespaces'),
  };
}
