import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createRequest } from '#http/api-request.ts';
import { fullAccess } from '#test/support/system/request-access.ts';
import type { SearchRequest } from '#views/search.ts';
import { parseSearchRequest } from '#views/search-request.ts';

/** Reads a query as API Gateway hands it on. */
function parse(query: string): SearchRequest {
  const parameters = new URLSearchParams(query);
  const names = [...new Set(parameters.keys())];
  const event = {
    queryStringParameters: Object.fromEntries(names.map((name) => [name, parameters.getAll(name).at(-1)])),
    multiValueQueryStringParameters: Object.fromEntries(names.map((name) => [name, parameters.getAll(name)])),
  };
  const { signal } = new AbortController();
  const options = { signal, access: fullAccess, audit: () => undefined };
  return parseSearchRequest(createRequest(event as unknown as APIGatewayProxyEvent, options));
}

describe('what a search is asked', () => {
  it('has defaults for all but the types', () => {
    expect(parse('type=serverGroups')).toEqual({
      query: '',
      types: ['serverGroups'],
      platform: undefined,
      pageNumber: 1,
      pageSize: 10_000,
      filters: new Map(),
    });
  });

  it('takes types that are repeated and types with commas between them', () => {
    expect(parse('type=serverGroups,%20instances&q=a%20b&type=projects').types).toEqual([
      'serverGroups',
      'instances',
      'projects',
    ]);
  });

  it.each(['type=', 'type=,&q=web'])('looks for everything where the types are empty: %s', (query) => {
    expect(parse(query).types).toEqual([]);
  });

  it('takes what it does not know for a filter', () => {
    expect(
      parse('q=Web&type=x&platform=kubernetes&page=2&pageSize=3&account=prod&empty=&allowShortQuery=true'),
    ).toEqual({
      query: 'Web',
      types: ['x'],
      platform: 'kubernetes',
      pageNumber: 2,
      pageSize: 3,
      filters: new Map([['account', 'prod']]),
    });
  });

  it.each([
    ['q=web', /^Query parameter 'type' must say what to look for/],
    ['type=x&page=0', /^Query parameter 'page' must be a whole number from 1 to 1000000, not '0'$/],
    ['type=x&pageSize=-1', /^Query parameter 'pageSize' must be a whole number from 1 to 10000, not '-1'$/],
    [
      'type=x&pageSize=10001',
      /^Query parameter 'pageSize' must be a whole number from 1 to 10000, not '10001'$/,
    ],
    [`type=x&q=${'q'.repeat(257)}`, /^Query parameter 'q' has 257 characters: at most 256 are accepted$/],
    ['type=x&pageSize=1e3', /^Query parameter 'pageSize' must be/],
  ])('cannot be %s', (query, complaint) => {
    expect(() => parse(query)).toThrow(complaint);
  });
});
