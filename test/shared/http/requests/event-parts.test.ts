import { expect, test } from 'vitest';
import { findParameter } from '#http/requests/event-parts.ts';

/** The parameter `name` of a request, as a front door hands it on. */
function getName(given: { name: string; path?: string; resource?: string }): string | undefined {
  const { name, path, resource = '/manifests/{account}/{location}/{name}' } = given;
  return findParameter({ resource, pathParameters: { name }, ...(path && { path }) }, 'name');
}

/** What a client means, and how it writes that. */
const names = [
  ['pod web', 'pod%20web'],
  ['clusterRole system:node', 'clusterRole%20system%3Anode'],
  ['pod a/b', 'pod%20a%2Fb'],
  ['pod a%2Fb', 'pod%20a%252Fb'],
  ['pod %77eb', 'pod%20%2577eb'],
  ['100%', '100%25'],
  ['pod größe', 'pod%20gr%C3%B6%C3%9Fe'],
  ['%', '%25'],
] as const;

test.each(names)(
  '%j is decoded once where it comes decoded, beside the path as it was sent',
  (name, sent) => {
    expect(getName({ name, path: `/manifests/test/shop/${sent}` })).toBe(name);
  },
);

test.each(names)('%j is decoded once where it comes as it was sent', (name, sent) => {
  expect(getName({ name: sent, path: `/manifests/test/shop/${sent}` })).toBe(name);
  expect(getName({ name: sent, path: `/manifests/test/shop/${name}` })).toBe(name);
  expect(getName({ name: sent })).toBe(name);
});

test.each(names.filter(([name]) => !name.includes('%')))(
  '%j is right where nothing tells what was sent',
  (name, sent) => {
    expect(getName({ name })).toBe(name);
    expect(getName({ name, path: `/manifests/test/shop/${name}` })).toBe(name);
    expect(getName({ name: sent, path: '/other', resource: '/{proxy+}' })).toBe(name);
  },
);

test.each(['%', '%zz', '%C3', 'a%'])('%j, which is no encoding, stays as it is', (name) => {
  expect(getName({ name, path: `/manifests/test/shop/${name}` })).toBe(name);
});
