import type { DirectoryNames, StoredRow } from '../../../core/cache/cache-store.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { asFacts, selfKey } from '../rows/row-entries.ts';
import type { RowView } from '../rows/row-names.ts';
import { untilWritten, type Writing } from './writing.ts';

/** Applications looked at at a time: all rows of each may be read. */
const concurrency = 4;

/** Where to look for a name first: managers are few and small, and mostly have the names of their server groups. */
const shortestFirst: readonly RowView[] = [
  'managers',
  'loadBalancers',
  'serverGroups',
  'securityGroups',
  'resources',
];

/** Something that an application does not have any more. */
export interface Departure {
  readonly application: string;
  /** The names that it had in the directory; undefined where they are not known any more. */
  readonly names: { readonly cluster: string | undefined; readonly namespace: string } | undefined;
}

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
  await forEachConcurrently([...new Set(applications)], concurrency, act);
  return waiting.sort();
}

/** The applications of which some names may have no use any more, by their rows. */
export async function findUnused(writing: Writing, departures: readonly Departure[]): Promise<string[]> {
  const unused: string[] = [];
  const groups = [...Map.groupBy(departures, ({ application }) => application)];
  const act = async ([application, own]: (typeof groups)[number]): Promise<void> => {
    if (!(await isAllUsed(writing, application, own))) unused.push(application);
  };
  await forEachConcurrently(groups, concurrency, act);
  return unused;
}

/** Whether other objects of the application have all the names of those that left it. Reads no more than it has to. */
async function isAllUsed(
  { cache, account }: Writing,
  application: string,
  departures: readonly Departure[],
): Promise<boolean> {
  const namespaces = new Set<string>();
  const clusters = new Set<string>();
  for (const { names } of departures) {
    if (names === undefined) return false;
    namespaces.add(names.namespace);
    if (names.cluster) clusters.add(names.cluster);
  }
  for (const view of shortestFirst) {
    for await (const rows of cache.listRows(application, account.name, { view, consistent: true })) {
      for (const row of rows) {
        const found = readNames(row);
        if (found === undefined) continue;
        namespaces.delete(found.namespace);
        clusters.delete(found.cluster ?? '');
        if (namespaces.size + clusters.size === 0) return true;
      }
    }
  }
  return false;
}

/** What an application has in the account, by its rows. */
async function readNamesLeft({ cache, account }: Writing, application: string): Promise<DirectoryNames> {
  const clusters = new Set<string>();
  const namespaces = new Set<string>();
  for await (const rows of cache.listRows(application, account.name, { consistent: true })) {
    for (const row of rows) {
      const found = readNames(row);
      if (found?.cluster) clusters.add(found.cluster);
      if (found !== undefined) namespaces.add(found.namespace);
    }
  }
  return { clusters: [...clusters].sort(), namespaces: [...namespaces].sort() };
}

/** The names that a row's object has in the directory. Pods alone have none. */
function readNames({ read }: Pick<StoredRow, 'read'>): Departure['names'] {
  const own = read().get(selfKey);
  return own && toNames(asFacts(own.value));
}

/** The names that an object has in the directory: clusters are what server groups and their managers make up. */
export function toNames({ spinnakerKind, moniker, namespace }: ObjectFacts): NonNullable<Departure['names']> {
  const hasCluster = spinnakerKind === 'serverGroups' || spinnakerKind === 'serverGroupManagers';
  return { cluster: (hasCluster && moniker.cluster) || undefined, namespace };
}
