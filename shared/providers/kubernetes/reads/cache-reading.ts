import type { CacheStore, DirectoryEntry, ObjectKey, StoredObject } from '#caching/store/cache-store.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '#core/concurrency.ts';
import { InvalidInputError } from '#core/errors.ts';
import { viewConcurrency, viewRowsMax } from '#core/request-limits.ts';
import { compareText } from '#core/text-order.ts';
import type { ViewKey } from '#views/views.ts';
import { isBounded, isWithinBounds } from '../account/account-bounds.ts';
import type { KubernetesSession } from '../account/session.ts';
import { parseFullName } from '../kinds/name.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts } from '../rows/facts-codec.ts';

/** The accounts of a process. */
export type ReadingSession = Pick<KubernetesSession, 'accounts' | 'findAccount'>;

/** The source of views. */
export interface ViewSource {
  readonly cache: CacheStore;
  /** Whether an account may be shown: for these views other accounts do not exist. */
  mayRead(account: string): boolean;
}

/** The tools for reading one view. */
export interface CacheReading {
  readonly session: ReadingSession;
  readonly cache: CacheStore;
  /** Limits the view's requests. */
  readonly limit: ConcurrencyLimit;
  /** Called with the number of rows read. @throws InvalidInputError beyond {@link viewRowsMax} */
  addRows(count: number): void;
}

/** The objects of a kind, in one namespace if given. */
interface ObjectsRequest {
  readonly account: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  /** Leave out the objects of this application. */
  readonly outside?: string | undefined;
}

/** Begins to read for one view of those accounts that may be shown, each time. Each view has at most 32 requests in flight. */
export function openReadings(
  accounts: ReadingSession['accounts'],
  { cache, mayRead }: ViewSource,
): () => CacheReading {
  const readable = accounts.filter(({ name }) => mayRead(name));
  const byName = new Map(readable.map((account) => [account.name, account]));
  const session = { accounts: readable, findAccount: (name: string) => byName.get(name) };
  return () => startReading(session, cache);
}

/** Begins to read for one view. */
export function startReading(session: ReadingSession, cache: CacheStore): CacheReading {
  let rows = 0;
  const addRows = (count: number): void => {
    rows += count;
    if (rows <= viewRowsMax) return;
    throw new InvalidInputError(
      `The answer is made of more than ${viewRowsMax} objects: ask for less at once, by naming fewer applications or clusters`,
    );
  };
  return { session, cache, limit: createConcurrencyLimit(viewConcurrency), addRows };
}

/**
 * Creates the test of whether an account may see an object. Earlier settings may have chosen what is cached: the current ones hide it at
 * once, before caching agents evict it. An unconfigured or missing account sees nothing.
 */
export function createSight(
  { session }: Pick<CacheReading, 'session'>,
  account: string,
): (object: Pick<ObjectKey, 'kind' | 'location' | 'name'>) => boolean {
  const configured = session.findAccount(account);
  if (configured === undefined) return () => false;
  return isBounded(configured)
    ? ({ kind, location: namespace, name }) => isWithinBounds(configured, { kind, namespace, name })
    : () => true;
}

/**
 * Where an application is, as far as accounts are configured and may see it, sorted by account. If it has objects that the account may not
 * see, some of the clusters may contain only those.
 */
export async function listPlaces(
  { session, cache, limit }: CacheReading,
  application: string,
): Promise<readonly DirectoryEntry[]> {
  const entries = await limit(() => cache.listAccounts(application));
  return entries
    .map((entry) => toSeenPlace(session, entry))
    .filter((entry) => entry !== undefined)
    .sort((one, other) => compareText(one.account, other.account));
}

/** The cached objects of a kind, those of one namespace where one is given. Their bodies are not decoded. */
export function listObjects(
  reading: CacheReading,
  { account, kind, namespace, outside }: ObjectsRequest,
): Promise<StoredObject[]> {
  const { cache, limit } = reading;
  const isSeen = createSight(reading, account);
  return limit(async () => {
    const pages = await Array.fromAsync(cache.listObjects(account, kind, { location: namespace, outside }));
    return pages.flat().filter(({ key }) => isSeen(key));
  });
}

/** The facts of the object of a key as callers write it: see {@link findObjects}. */
export async function findFacts(reading: CacheReading, key: ViewKey): Promise<ObjectFacts | undefined> {
  const [facts] = readAllFacts(await findObjects(reading, [key]));
  return facts;
}

/** The objects of keys that callers wrote, each once. Unknown names, unconfigured accounts and hidden objects yield nothing. */
export async function findObjects(reading: CacheReading, keys: readonly ViewKey[]): Promise<StoredObject[]> {
  const { cache, limit } = reading;
  const wanted = keys
    .map(toObjectKey)
    .filter((key) => key !== undefined)
    .filter((key) => createSight(reading, key.account)(key));
  const unique = new Map(wanted.map((key) => [JSON.stringify(Object.values(key)), key]));
  if (unique.size === 0) return [];
  const found = await limit(() => cache.getObjects([...unique.values()]));
  return found.filter((object) => object !== undefined);
}

/** The key of an object from `kind name`; undefined for any other text. */
export function toObjectKey({ account, location, name }: ViewKey): ObjectKey | undefined {
  try {
    return { account, location, ...parseFullName(name) };
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/** The facts of objects; facts cached in another form count as absent. */
export function readAllFacts(objects: Iterable<StoredObject>): ObjectFacts[] {
  const facts: ObjectFacts[] = [];
  for (const object of objects) {
    const each = decodeFacts(object.readBody());
    if (each !== undefined) facts.push(each);
  }
  return facts;
}

/** A place with only the namespaces that its account may see; undefined if there are none. */
export function toSeenPlace(session: ReadingSession, entry: DirectoryEntry): DirectoryEntry | undefined {
  const configured = session.findAccount(entry.account);
  if (configured === undefined) return undefined;
  if (!isBounded(configured)) return entry;
  const namespaces = entry.locations.filter((namespace) =>
    isWithinBounds(configured, { kind: '', namespace, name: '' }),
  );
  // A place without namespaces has no objects yet.
  return namespaces.length === 0 && entry.locations.length > 0
    ? undefined
    : { ...entry, locations: namespaces };
}

/** The configured accounts among those of keys, each once. */
export function listKnownAccounts({ session }: CacheReading, keys: readonly ViewKey[]): readonly string[] {
  return [...new Set(keys.map(({ account }) => account))].filter(
    (name) => session.findAccount(name) !== undefined,
  );
}
