import { InvalidInputError } from './errors.ts';
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

/** Clouddriver's. */
const defaultPageSize = 10_000;

/** What is no filter; the last one is for Gate. */
const ownParameters = new Set(['q', 'type', 'platform', 'pageSize', 'page', 'allowShortQuery']);

/**
 * Reads what `GET /search` is asked. All parameters that it does not know are filters.
 *
 * @throws InvalidInputError naming the parameter.
 */
export function parseSearchRequest(query: SearchQuery): SearchRequest {
  const types = query.findQueryList('type') ?? [];
  if (types.length === 0) {
    throw new InvalidInputError("Query parameter 'type' must say what to look for, for example serverGroups");
  }
  const filters = query
    .listQueryNames()
    .filter((name) => !ownParameters.has(name))
    .map((name) => [name, query.findQuery(name) ?? ''] as const)
    .filter(([, value]) => value !== '');
  return {
    query: query.findQuery('q') ?? '',
    types,
    platform: query.findQuery('platform') || undefined,
    pageNumber: parseNumber(query, 'page', 1),
    pageSize: parseNumber(query, 'pageSize', defaultPageSize),
    filters: new Map(filters),
  };
}

function parseNumber(query: SearchQuery, name: string, otherwise: number): number {
  const text = query.findQuery(name) ?? '';
  if (text === '') return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new InvalidInputError(`Query parameter '${name}' must be a whole number from 1, not '${text}'`);
}
