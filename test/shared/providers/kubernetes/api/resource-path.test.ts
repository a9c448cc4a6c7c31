import { expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import {
  checkPath,
  getCollectionPath,
  getObjectPath,
  withQuery,
} from '#providers/kubernetes/api/resource-path.ts';

const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, builtIn: true };
const roles = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
  builtIn: true,
};

test.each([
  [getCollectionPath(pods, undefined), '/api/v1/pods'],
  [getCollectionPath(pods, 'shop'), '/api/v1/namespaces/shop/pods'],
  [getObjectPath(pods, 'shop', 'web-0'), '/api/v1/namespaces/shop/pods/web-0'],
  [
    getObjectPath(roles, 'ignored', 'system:node'),
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
  ],
  [getObjectPath(pods, 'shop', '..secrets?x=1#'), '/api/v1/namespaces/shop/pods/..secrets%3Fx%3D1%23'],
  [
    withQuery('/x', {
      limit: 500,
      force: true,
      labelSelector: 'a in (b,c)',
      continue: '',
      fieldSelector: undefined,
    }),
    '/x?limit=500&force=true&labelSelector=a%20in%20(b%2Cc)',
  ],
  [withQuery('/x', {}), '/x'],
])('%s', (path, expected) => {
  expect(path).toBe(expected);
});

const strangers = [
  '',
  '.',
  '..',
  'a/b',
  '../b',
  'a/',
  'a%2Fb',
  'a%252Fb',
  'a\0',
  'a\r\nhost: b',
  '\ud800',
  'a'.repeat(254),
];

test.each(strangers)('the name %j would be another path', (name) => {
  expect(() => getObjectPath(pods, 'shop', name)).toThrow(InvalidInputError);
  expect(() => getObjectPath(pods, name, 'web-0')).toThrow('the name of a Kubernetes object must not be');
});

test.each(['', 'api/v1', '/api/v1/pods?labelSelector=a b', '/ü', '/a\r\nhost: b'])(
  '%j is no path',
  (path) => {
    expect(() => checkPath(path)).toThrow('must begin with a slash and be URL-encoded');
  },
);
