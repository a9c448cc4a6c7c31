import { fromRaw, type Item, type ItemKey, type RawItem } from '#platform/aws/table.ts';
import type { CacheStore, DirectoryEntry, DirectoryNames } from '../../store/cache-store.ts';
import { joinNames, listNames, type NamesByTopic, noNames } from '../../store/recorded-names.ts';
import { toKeyText } from './cache-keys.ts';
import { readNames } from './cache-name-parts.ts';
import type { CacheParts } from './cache-parts.ts';
import type { ReadBucket } from './row-memory.ts';
import type { UnreadableItems } from './unreadable-items.ts';

/** Partition of the directory. */
export const directoryPartition = 'APPLICATIONS';

/** Characters of names for one of their stored form, about: it is compressed. */
const unpackedFactor = 4;

/** See {@link CacheStore.recordApplication}. */
export async function recordApplication(
  { names }: CacheParts,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
  recorded: DirectoryNames,
): Promise<readonly string[]> {
  return names.note(getDirectoryKey(application, account), toTopics(recorded), { application, account });
}

/** Begins to read what {@link recordApplication} reads. */
export function readApplicationAhead(
  { names }: CacheParts,
  { application, account, ...recorded }: DirectoryEntry,
): void {
  names.readAhead(getDirectoryKey(application, account), toTopics(recorded));
}

/** See {@link CacheStore.pruneApplication}. */
export async function pruneApplication(
  { names }: CacheParts,
  { application, account, departed }: Parameters<CacheStore['pruneApplication']>[0],
  readLeft: () => Promise<DirectoryNames>,
): Promise<boolean> {
  const departing = departed && toTopics(departed);
  return names.prune(getDirectoryKey(application, account), {
    ...(departing && { departing }),
    readLeft: async () => toTopics(await readLeft()),
  });
}

/** The directory, or its entries of one application. */
export async function listDirectory(
  { table, directoryMemory, unreadable }: CacheParts,
  { application, consistent = false }: { readonly application?: string; readonly consistent?: boolean } = {},
): Promise<readonly DirectoryEntry[]> {
  const prefix = application === undefined ? undefined : `${toKeyText(application)}#`;
  const name = prefix ?? '';
  const known = directoryMemory.find(name);
  const pages = await Array.fromAsync(table.queryRawPages({ pk: directoryPartition, prefix, consistent }));
  const found = new Map<string, ReadBucket<DirectoryEntry>>();
  for (const [place, items] of Map.groupBy(pages.flat(), getPlace)) {
    const signature = items.map(signItem).join('\n');
    const before = known?.get(place);
    const characters = signature.length * unpackedFactor;
    if (before?.signature === signature) found.set(place, before);
    else found.set(place, { signature, content: toEntry(items.map(fromRaw), unreadable), characters });
  }
  directoryMemory.remember(name, found);
  return [...found.values()]
    .map(({ content }) => content)
    .filter(({ clusters, locations }) => clusters.length + locations.length > 0);
}

/** Where the directory stores an application of an account. */
export function getDirectoryKey(application: string, account: string): ItemKey {
  return { pk: directoryPartition, sk: toKeyText(application, account) };
}

/** Locations first: they are few, and objects of other applications are found through them. */
function toTopics({ locations, clusters }: DirectoryNames): NamesByTopic {
  return { namespaces: locations, clusters };
}

function getPlace({ application, account }: RawItem): string {
  return toKeyText(String(application?.S), String(account?.S));
}

/** With its names as they are stored: an item that was deleted and written again begins with the same revision. */
function signItem({ sk, form, topics }: RawItem): string {
  return `${sk?.S} ${form?.N} ${topics?.S ?? Buffer.from(topics?.B ?? []).toString('latin1')}`;
}

function toEntry(parts: readonly Item[], unreadable: UnreadableItems): DirectoryEntry {
  const [first] = parts;
  const read = (item: Item | undefined) =>
    unreadable.read({ ...item, pk: directoryPartition }, () => readNames(item)) ?? noNames;
  // Most places have one part: its names need no joining.
  const recorded = parts.length === 1 ? read(first) : joinNames(parts.map(read));
  return {
    application: String(first?.['application']),
    account: String(first?.['account']),
    clusters: listNames(recorded, 'clusters'),
    locations: listNames(recorded, 'namespaces'),
  };
}
