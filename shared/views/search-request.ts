import { InvalidInputError } from '#core/errors.ts';
import { searchPageMax, searchPageSizeMax, searchTextMax } from '#core/request-limits.ts';
import type { SearchRequest } from './search.ts';

/** The query part of a request. */
export interface SearchQuery {
  /** The value of a parameter, the last one when repeated. */
  findQuery(name: string): string | undefined;
  /** The values of a parameter, repeated or with commas between them. */
  findQueryList(name: string): readonly string[] | undefined;
  /** Names of all parameters. */
  listQueryNames(): readonly string[];
}

/** Clouddriver's default, and the most. */
const defaultPageSize = searchPageSizeMax;

/** Parameters that are no filters; the last one is for Gate. */
const ownParameters = new Set(['q', 'type', 'platform', 'pageSize', 'page', 'allowShortQuery']);

/** Reads the parameters of `GET /search`. All unknown ones are filters. @throws InvalidInputError naming the parameter. */
export function parseSearchRequest(query: SearchQuery): SearchRequest {
  const types = query.findQueryList('type');
  if (types === undefined) {
    throw new InvalidInputError(
      "Query parameter 'type' must say what to look for, for example serverGroups; empty, it looks for everything",
    );
  }
  const filters = query
    .listQueryNames()
    .filter((name) => !ownParameters.has(name))
    .map((name) => [name, query.findQuery(name) ?? ''] as const)
    .filter(([, value]) => value !== '');
  return {
    query: parseText(query),
    types,
    platform: query.findQuery('platform') || undefined,
    pageNumber: parseNumber(query, 'page', { otherwise: 1, max: searchPageMax }),
    pageSize: parseNumber(query, 'pageSize', { otherwise: defaultPageSize, max: searchPageSizeMax }),
    filters: new Map(filters),
  };
}

function parseText(query: SearchQuery): string {
  const text = query.findQuery('q') ?? '';
  if (text.length <= searchTextMax) return text;
  throw new InvalidInputError(
    `Query parameter 'q' has ${text.length} characters: at most ${searchTextMax} are accepted`,
  );
}

function parseNumber(
  query: SearchQuery,
  name: string,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  const text = query.findQuery(name) ?? '';
  if (text === '') return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= max) return value;
  throw new InvalidInputError(
    `Query parameter '${name}' must be a whole number from 1 to ${max}, not '${text.slice(0, 32)}'`,
  );
}
