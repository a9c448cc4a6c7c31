import type { DirectoryNames } from '#caching/store/cache-store.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { isInCluster } from '../rows/cached-objects.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { asFacts, selfKey } from '../rows/row-entries.ts';
import type { ApplicationView } from '../rows/row-names.ts';
import { untilWritten, type WriterContext } from './writer-context.ts';

/** Applications looked at at a time: all rows of each may be read. */
const concurrency = 4;

/** Where to look for a name first: managers are few and small, and mostly have the names of their server groups. */
const shortestFirst: readonly ApplicationView[] = [
  'managers',
  'loadBalancers',
  'serverGroups',
  'securityGroups',
  'resources',
];

/** The names that an object has in the directory. */
export interface ObjectNames {
  readonly cluster: string | undefined;
  readonly namespace: string;
}

/** Something that an application does not have any more. */
export interface Departure {
  readonly application: string;
  /** The names that it had in the directory; undefined where they are not known any more. */
  readonly names: ObjectNames | undefined;
}

/**
 * Takes from the directory what applications do not have any more in the account.
 *
 * @param applications with the names that just left each; undefined where they are not known any more.
 * @returns those that must be looked at again at least five minutes later.
 */
export async function pruneApplications(
  writer: WriterContext,
  applications: ReadonlyMap<string, DirectoryNames | undefined>,
): Promise<string[]> {
  const { account } = writer;
  const waiting: string[] = [];
  await forEachConcurrently([...applications], concurrency, async ([application, departed]) => {
    const place = { application, account: account.name, departed };
    const readLeft = (): Promise<DirectoryNames> => readNamesLeft(writer, application);
    const waits = await untilWritten(writer, (cache) => cache.pruneApplication(place, readLeft));
    if (waits || departed === undefined) waiting.push(application);
  });
  return waiting.sort();
}

/** The applications of which some names may have no use any more, by their rows, with those that left each. */
export async function findUnused(
  writer: WriterContext,
  departures: readonly Departure[],
): Promise<Map<string, DirectoryNames | undefined>> {
  const unused = new Map<string, DirectoryNames | undefined>();
  const groups = [...Map.groupBy(departures, ({ application }) => application)];
  await forEachConcurrently(groups, concurrency, async ([application, own]) => {
    const departed = joinNames(own);
    if (!(await isAllUsed(writer, application, departed))) unused.set(application, departed);
  });
  return unused;
}

/** The names of what left; undefined where some are not known any more. */
function joinNames(departures: readonly Departure[]): DirectoryNames | undefined {
  const names = departures.map((departure) => departure.names).filter((each) => each !== undefined);
  return names.length < departures.length ? undefined : toDirectoryNames(names);
}

/** Whether other objects of the application have all the names of those that left it. Reads no more than it has to. */
async function isAllUsed(
  writer: WriterContext,
  application: string,
  departed: DirectoryNames | undefined,
): Promise<boolean> {
  if (departed === undefined) return false;
  const clusters = new Set(departed.clusters);
  const namespaces = new Set(departed.namespaces);
  for (const view of shortestFirst) {
    for await (const found of listNames(writer, application, view)) {
      namespaces.delete(found.namespace);
      clusters.delete(found.cluster ?? '');
      if (namespaces.size + clusters.size === 0) return true;
    }
  }
  return false;
}

/** What an application has in the account, by its rows. */
async function readNamesLeft(writer: WriterContext, application: string): Promise<DirectoryNames> {
  return toDirectoryNames(await Array.fromAsync(listNames(writer, application)));
}

function toDirectoryNames(names: readonly ObjectNames[]): DirectoryNames {
  const clusters = new Set(names.flatMap(({ cluster }) => cluster ?? []));
  const namespaces = new Set(names.map(({ namespace }) => namespace));
  return { clusters: [...clusters].sort(), namespaces: [...namespaces].sort() };
}

/** The names of all objects in an application's rows, or in those of one view. */
async function* listNames(
  { cache, account }: WriterContext,
  application: string,
  view?: ApplicationView,
): AsyncGenerator<ObjectNames> {
  const place = { application, account: account.name };
  for await (const rows of cache.listRows(place, { ...(view && { view }), consistent: true })) {
    for (const row of rows) {
      const own = row.read().get(selfKey);
      if (own !== undefined) yield toNames(asFacts(own.value));
    }
  }
}

/** The names that an object has in the directory: clusters are what server groups and their managers make up. */
export function toNames({ spinnakerKind, moniker, namespace }: ObjectFacts): ObjectNames {
  return { cluster: (isInCluster(spinnakerKind) && moniker.cluster) || undefined, namespace };
}
