import { describe, expect, it } from 'vitest';
import { routes } from '#functions/routes.ts';
import { additions } from './guides.ts';
import { namedRoutes } from './route-additions.ts';

describe.each(additions)('of $what', ({ count, findForgotten, listNeeds }) => {
  it('nothing is forgotten', () => {
    expect(count).toBeGreaterThan(3);
    expect(findForgotten()).toEqual([]);
  });

  it('each need is missed by one that was just begun', () => {
    expect(listNeeds().filter((need) => typeof need !== 'string')).toEqual([]);
  });
});

it('no call, request or description is left of what is no route any more', () => {
  const known = routes.map(({ method, path }) => `${method} ${path}`);
  expect(namedRoutes.filter((route) => !known.includes(route))).toEqual([]);
});
