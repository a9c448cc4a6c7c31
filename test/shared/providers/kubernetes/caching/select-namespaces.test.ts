import { expect, test } from 'vitest';
import {
  namespacesByThemselvesMax,
  selectNamespaces,
} from '#providers/kubernetes/caching/select-namespaces.ts';

test('so many namespaces are read one by one, and no more', () => {
  const account = { name: 'prod', omitNamespaces: ['ns-0'] };
  const names = Array.from({ length: namespacesByThemselvesMax + 1 }, (_, index) => `ns-${index}`);
  expect(selectNamespaces(names, account)).toEqual(names.slice(1));
  expect(() => selectNamespaces([...names, 'one-more'], account)).toThrow(
    `account "prod": its cluster has more than ${namespacesByThemselvesMax} namespaces`,
  );
});
