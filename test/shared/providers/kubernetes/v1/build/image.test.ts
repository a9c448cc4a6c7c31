import { expect, test } from 'vitest';
import { formatImage } from '#providers/kubernetes/v1/build/image.ts';

test.each([
  [{ repository: 'library/nginx' }, 'gcr.io/library/nginx:latest'],
  [{ registry: 'quay.io', repository: 'a/b', tag: '1' }, 'quay.io/a/b:1'],
  [{ registry: '', repository: 'a/b', tag: '' }, 'gcr.io/a/b:latest'],
  [{ repository: 'a', tag: '1', digest: 'sha256:ab' }, 'gcr.io/a@sha256:ab'],
  [{ uri: 'nginx' }, 'gcr.io/nginx:latest'],
  [{ uri: 'library/nginx:1.2' }, 'gcr.io/library/nginx:1.2'],
  [{ uri: 'localhost:5000/a/b:1' }, 'localhost:5000/a/b:1'],
  [{ uri: 'registry:5000/a' }, 'registry:5000/a:latest'],
  [{ uri: 'index.docker.io/a/b@sha256:ab' }, 'index.docker.io/a/b@sha256:ab'],
  [{ uri: 'a/b:1@sha256:ab' }, 'gcr.io/a/b:1@sha256:ab'],
  [{ uri: 'quay.io/a', repository: 'other' }, 'quay.io/a:latest'],
])('the image of %j is %s', (image, expected) => {
  expect(formatImage(image, 'gcr.io')).toBe(expected);
});

test.each([{}, { registry: 'quay.io', tag: '1' }, { uri: 'quay.io/' }])('%j names no image', (image) => {
  expect(() => formatImage(image, 'gcr.io')).toThrow('Image descriptions must provide a repository.');
});
