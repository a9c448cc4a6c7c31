import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/routes.ts';
import { createApiTable } from '../../shared/contract/api-table.ts';
import { operationDefinitions } from '../../shared/providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '../../shared/providers/kubernetes/v1/operations/index.ts';
import { createRouteCalls } from '../acceptance/contract/route-calls.ts';
import { createHits } from '../fuzz/fuzz-hits.ts';
import { findForgotten } from './additions.ts';
import { RepositoryTexts } from './repository-texts.ts';
import { listRoutes, type RouteItem, routeRules } from './route-rules.ts';

const texts = RepositoryTexts.load();
const table = createApiTable([...operationDefinitions, ...v1OperationDefinitions]);
const known = routes.map(({ method, path }) => `${method} ${path}`);

describe('of a route', () => {
  it('nothing is forgotten', () => {
    const items = listRoutes(table);
    expect(items).toHaveLength(routes.length);
    expect(items.flatMap((item) => findForgotten(routeRules, item, texts))).toEqual([]);
  });

  it('nothing is left that is no route any more', () => {
    const world = { namespace: 'here', taskId: '1' };
    const playground = { account: 'one', otherAccounts: ['two'], namespace: 'here', taskIds: ['1'] };
    const told = [createRouteCalls(world), createHits(playground), table.routes].flatMap(Object.keys);
    expect(told.filter((route) => !known.includes(route))).toEqual([]);
  });
});

/** A route that nobody has but its row. */
const newcomer: RouteItem = {
  ...{ route: 'GET /quotas/{account}', path: '/quotas/{account}', module: 'api/quotas/list-quotas' },
  ...{ isDescribed: false, isCalled: false, isJudged: false, isHit: false },
};

describe('a route that has its row alone', () => {
  it('fails with a sentence for each thing that is missing, and where it goes', () => {
    const found = findForgotten(routeRules, newcomer, texts);
    expect(found.map((sentence) => sentence.slice(0, sentence.indexOf(': ')))).toEqual([
      'functions/api/quotas/list-quotas.ts does not say that it answers GET /quotas/{account}',
      'shared/contract/ does not describe GET /quotas/{account}',
      'docs/openapi.json does not have GET /quotas/{account}',
      'docs/contract.md has no row of GET /quotas/{account}',
      'docs/authorization.md has no row of GET /quotas/{account}',
      'no test of who may call GET /quotas/{account}',
      'no acceptance test calls GET /quotas/{account}',
      'no request of the fuzzer hits GET /quotas/{account}',
    ]);
  });

  it('fails while its function names a longer path alone', () => {
    const text = '/** GET /quotas/{account}/{quota}: quotas. */';
    const added = texts.with({ 'functions/api/quotas/list-quotas.ts': text });
    expect(findForgotten(routeRules.slice(0, 1), newcomer, added)).toHaveLength(1);
  });

  it('fails no more when all of it is there', () => {
    const added = texts.with({
      'functions/api/quotas/list-quotas.ts': '/** GET /quotas/{account}: quotas. */',
      'docs/openapi.json': '"/quotas/{account}": {',
      'docs/contract.md': '| GET | `/quotas/{account}` | Quotas |',
      'docs/authorization.md': '`GET /quotas/{account}`',
    });
    const item = { ...newcomer, isDescribed: true, isCalled: true, isJudged: true, isHit: true };
    expect(findForgotten(routeRules, item, added)).toEqual([]);
  });
});
