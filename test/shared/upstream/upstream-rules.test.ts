import { describe, expect, it } from 'vitest';
import { routes } from '#functions/routes.ts';
import { findUpstreamRule, isOwnRoute, ownRoutes } from '#upstream/upstream-rules.ts';

describe('a route of the API', () => {
  it('is either answered here for a reason, or has a rule by which it goes upstream', () => {
    const forgotten = routes.filter((route) => !isOwnRoute(route) && findUpstreamRule(route) === undefined);
    expect(forgotten.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('has no rule that is of no use', () => {
    const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    expect([...ownRoutes.keys()].filter((route) => !known.has(route))).toEqual([]);
  });
});
