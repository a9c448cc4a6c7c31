import { describe, expect, it } from 'vitest';
import { routes } from '#functions/routes.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { createHits } from './fuzz-hits.ts';

const hits = createHits({ account: 'one', otherAccounts: ['two'], namespace: 'here', taskIds: ['1', '2'] });

const names = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

describe('the requests that a fuzz run aims', () => {
  it('are of routes that there are, and have their parameters alone', () => {
    const known = new Map(routes.map(({ method, path }) => [`${method} ${path}`, names(path)]));
    for (const [route, requests] of Object.entries(hits)) {
      const parameters = known.get(route);
      expect([route, parameters]).not.toContain(undefined);
      for (const { path = {} } of requests)
        expect([route, parameters]).toMatchObject([route, expect.arrayContaining(Object.keys(path))]);
    }
  });

  it('are there for each operation', () => {
    const aimed = hits['POST /{cloudProvider}/ops/{operation}']?.map(({ path }) => path?.['operation']);
    expect([...new Set(aimed)].sort()).toEqual(operationDefinitions.map(({ name }) => name).sort());
  });
});
