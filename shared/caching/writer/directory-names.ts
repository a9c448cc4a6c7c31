import { forEachConcurrently } from '#core/concurrency.ts';
import type { DirectoryNames } from '../store/cache-store.ts';
import type { ObjectNames } from './cache-model.ts';
import { untilWritten, type WriterContext } from './writer-context.ts';

/** Applications checked at a time: all rows of each may be read. */
const concurrency = 4;

/** An object that an application does not have any more. */
export interface Departure {
  readonly application: string;
  /** Its names in the directory; undefined if they are not known any more. */
  readonly names: ObjectNames | undefined;
}

/**
 * Removes from the directory the names that applications do not have any more in the account.
 *
 * @param applications with the names that just left each; undefined if they are not known any more.
 * @returns those that must be checked again at least five minutes later.
 */
export async function pruneApplications(
  writer: WriterContext,
  applications: ReadonlyMap<string, DirectoryNames | undefined>,
): Promise<string[]> {
  const { account } = writer;
  const waiting: string[] = [];
  await forEachConcurrently([...applications], concurrency, async ([application, departed]) => {
    const place = { application, account, departed };
    const readLeft = (): Promise<DirectoryNames> => readNamesLeft(writer, application);
    const waits = await untilWritten(writer, (cache) => cache.pruneApplication(place, readLeft));
    if (waits || departed === undefined) waiting.push(application);
  });
  return waiting.sort();
}

/** The applications with names that may be unused now, by their rows, with the names that left each. */
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

/** The names of the objects that left; undefined if some are not known any more. */
function joinNames(departures: readonly Departure[]): DirectoryNames | undefined {
  const names = departures.map((departure) => departure.names).filter((each) => each !== undefined);
  return names.length < departures.length ? undefined : toDirectoryNames(names);
}

/** Whether other objects of the application have all the names of those that left. Reads no more than necessary. */
async function isAllUsed(
  writer: WriterContext,
  application: string,
  departed: DirectoryNames | undefined,
): Promise<boolean> {
  if (departed === undefined) return false;
  const clusters = new Set(departed.clusters);
  const locations = new Set(departed.locations);
  for (const view of writer.model.rows?.views ?? []) {
    for await (const found of listNames(writer, application, view)) {
      locations.delete(found.location);
      clusters.delete(found.cluster ?? '');
      if (locations.size + clusters.size === 0) return true;
    }
  }
  return false;
}

/** An application's names in the account, by its rows. */
async function readNamesLeft(writer: WriterContext, application: string): Promise<DirectoryNames> {
  return toDirectoryNames(await Array.fromAsync(listNames(writer, application)));
}

/** The names of objects, as the directory has them. */
export function toDirectoryNames(names: readonly ObjectNames[]): DirectoryNames {
  const clusters = new Set(names.flatMap(({ cluster }) => cluster ?? []));
  const locations = new Set(names.map(({ location }) => location));
  return { clusters: [...clusters].sort(), locations: [...locations].sort() };
}

/** The names of all objects in an application's rows, or in those of one view. */
async function* listNames(
  { cache, account, model }: WriterContext,
  application: string,
  view?: string,
): AsyncGenerator<ObjectNames> {
  const place = { application, account };
  for await (const rows of cache.listRows(place, { ...(view && { view }), consistent: true })) {
    for (const row of rows) {
      const names = model.rows?.findNames(row.read());
      if (names !== undefined) yield names;
    }
  }
}
