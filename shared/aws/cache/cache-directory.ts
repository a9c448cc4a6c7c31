import type { DirectoryEntry, DirectoryNames } from '../../core/cache/cache-store.ts';
import { joinNames, listNames } from '../../core/cache/noted-names.ts';
import type { Item, ItemKey } from '../table.ts';
import { toKeyText } from './cache-keys.ts';
import { readNames } from './cache-name-parts.ts';
import type { CacheParts } from './cache-parts.ts';

/** Partition of the directory. */
export const directoryPartition = 'APPLICATIONS';

/** See {@link CacheStore.noteApplication}. */
export async function noteApplication(
  { names }: CacheParts,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
  { clusters, namespaces }: DirectoryNames,
): Promise<readonly string[]> {
  // Namespaces first: they are few, and services are found by them.
  return names.note(
    getDirectoryKey(application, account),
    { namespaces, clusters },
    { application, account },
  );
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
  const places = new Map<string, Item[]>();
  for await (const items of table.queryPages({ pk: directoryPartition, prefix, consistent: false })) {
    for (const item of items) {
      const place = toKeyText(String(item['application']), String(item['account']));
      const parts = places.get(place);
      if (parts === undefined) places.set(place, [item]);
      else parts.push(item);
    }
  }
  return [...places.values()]
    .map(toEntry)
    .filter(({ clusters, namespaces }) => clusters.length + namespaces.length > 0);
}

/** Where the directory has an application in an account. */
export function getDirectoryKey(application: string, account: string): ItemKey {
  return { pk: directoryPartition, sk: toKeyText(application, account) };
}

function toEntry(parts: readonly Item[]): DirectoryEntry {
  const [first] = parts;
  // Most places have one part, whose names need no joining.
  const noted = parts.length === 1 ? readNames(first) : joinNames(parts.map(readNames));
  return {
    application: String(first?.['application']),
    account: String(first?.['account']),
    clusters: listNames(noted, 'clusters'),
    namespaces: listNames(noted, 'namespaces'),
  };
}
