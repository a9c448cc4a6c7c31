import { describe, expect, it } from 'vitest';
import { createApiTable } from '#contract/api-table.ts';
import { routes } from '#functions/routes.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '#providers/kubernetes/v1/operations/index.ts';
import { createRouteCalls } from '#test/acceptance/contract/route-calls.ts';
import { createHits } from '#test/fuzz/fuzz-hits.ts';
import { findForgotten } from './additions.ts';
import { RepositoryTexts } from './repository-texts.ts';
import { listRoutes, newRoute, routeRules } from './route-rules.ts';

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

describe('a route that has its row alone', () => {
  it('fails with a sentence for each thing that is missing', () => {
    expect(findForgotten(routeRules, newRoute, texts)).toHaveLength(routeRules.length);
  });
});
