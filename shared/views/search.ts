import type { FindView, SearchResultSet } from '#contract/answers/search.ts';
import { asString } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import type { Catalog, CatalogApplication, CatalogProject } from './catalog.ts';
import type { ViewSet } from './view-set.ts';
import type { Viewed } from './views.ts';

/** The parameters of `GET /search`. */
export interface SearchRequest {
  /** Any case; an empty one finds everything. */
  readonly query: string;
  /** `serverGroups`, `replicaSet`, `applications`, `projects` …; without any, everything. */
  readonly types: readonly string[];
  /** Only this provider's finds; undefined for all, and for Front50's. */
  readonly platform: string | undefined;
  /** From 1. */
  readonly pageNumber: number;
  /** From 1. */
  readonly pageSize: number;
  /** Values that finds must have, by member and in any case. Finds without the member are kept. */
  readonly filters: ReadonlyMap<string, string>;
}

/** Where to search. */
export interface SearchSources {
  readonly views: Pick<ViewSet, 'providers' | 'selectProvider'>;
  /** Undefined without Front50. */
  readonly catalog: Pick<Catalog, 'listApplications' | 'listProjects'> | undefined;
  /** Whether the caller may find what belongs to an application. Projects, and what belongs to none, are always found. */
  mayRead(application: string): boolean;
}

/** The platform of the catalog's finds. */
const catalogPlatform = 'front50';

/**
 * Searches the cache, and the catalog for applications and projects. There is always one result set: callers take the first. An application
 * that both know is found once, with the members of both.
 */
export async function search(
  request: SearchRequest,
  { views, catalog, mayRead }: SearchSources,
): Promise<Viewed<readonly SearchResultSet[]>> {
  const { query, types, platform, pageNumber, pageSize } = request;
  const selected = views.selectProvider(platform);
  const isCatalogWanted = [undefined, catalogPlatform].includes(platform?.toLowerCase());
  const [cached, catalogued] = await Promise.all([
    selected.search({ query, types }),
    isCatalogWanted && catalog !== undefined ? searchCatalog(request, catalog) : [],
  ]);
  const found = mergeFinds(cached.value, catalogued);
  const results = found.filter(
    (find) => passesFilters(find, request.filters) && mayRead(getApplication(find)),
  );
  const start = (pageNumber - 1) * pageSize;
  const set: SearchResultSet = {
    totalMatches: results.length,
    pageNumber,
    pageSize,
    platform: getPlatform(platform, selected.providers, catalog !== undefined),
    query,
    results: results.slice(start, start + pageSize),
  };
  return { value: [set], accounts: cached.accounts };
}

function getPlatform(wanted: string | undefined, providers: readonly string[], hasCatalog: boolean): string {
  if (wanted !== undefined) return wanted;
  const [first = catalogPlatform, ...others] = providers;
  return others.length > 0 || hasCatalog ? 'aws' : first;
}

async function searchCatalog(
  { query, types }: SearchRequest,
  catalog: NonNullable<SearchSources['catalog']>,
): Promise<FindView[]> {
  const isWanted = (type: string) => types.length === 0 || types.some((one) => one.toLowerCase() === type);
  const text = query.toLowerCase();
  const holds = (part: string) => part.toLowerCase().includes(text);
  const [applications, projects] = await Promise.all([
    isWanted('applications') ? catalog.listApplications().then((list) => list.applications) : [],
    isWanted('projects') ? catalog.listProjects() : [],
  ]);
  return [
    ...applications.filter(({ name }) => holds(name)).map(toApplicationFind),
    ...projects.filter((project) => [project.name, ...project.applications].some(holds)).map(toProjectFind),
  ];
}

/** Front50 writes names of applications in upper case; everywhere else they are in lower case. */
function toApplicationFind({ name, attributes }: CatalogApplication): FindView {
  const application = name.toLowerCase();
  return {
    ...attributes,
    name: application,
    application,
    type: 'applications',
    url: `/applications/${encodeURIComponent(application)}`,
  };
}

function toProjectFind({ id, name, applications, attributes }: CatalogProject): FindView {
  return {
    ...attributes,
    id,
    name,
    applications: [...applications],
    type: 'projects',
    url: `/projects/${encodeURIComponent(id)}`,
  };
}

/** Finds of the catalog and of the cache in the order of the cache: by type and name. */
function mergeFinds(cached: readonly FindView[], catalogued: readonly FindView[]): FindView[] {
  const applications = new Map(
    catalogued.filter(isApplication).map((find) => [find.name.toLowerCase(), find]),
  );
  const merged = cached.map((find) => {
    const key = find.name.toLowerCase();
    const known = isApplication(find) ? applications.get(key) : undefined;
    if (known === undefined) return find;
    applications.delete(key);
    return { ...known, ...find };
  });
  const others = catalogued.filter((find) => !isApplication(find));
  return [...merged, ...applications.values(), ...others].sort(
    (one, other) => compareText(one.type, other.type) || compareText(one.name, other.name),
  );
}

function isApplication({ type }: FindView): boolean {
  return type === 'applications';
}

/** The application that a find belongs to, or is; empty where there is none. */
function getApplication({ application }: FindView): string {
  return asString(application) ?? '';
}

function passesFilters(find: FindView, filters: SearchRequest['filters']): boolean {
  return [...filters].every(([member, value]) => {
    const found = Object.hasOwn(find, member) ? find[member] : undefined;
    return !isScalar(found) || String(found).toLowerCase() === value.toLowerCase();
  });
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
