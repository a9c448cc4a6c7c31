import { InvalidInputError } from '#core/errors.ts';
import type { ApiResource } from './client.ts';
import { checkName } from './names.ts';

/** Parameters of a query; undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Path of a resource's collection; in all namespaces if `namespace` is undefined. */
export function getCollectionPath(resource: ApiResource, namespace: string | undefined): string {
  const root = resource.apiVersion.includes('/') ? '/apis' : '/api';
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeName(namespace)}` : '';
  return `${root}/${resource.apiVersion}${scope}/${resource.plural}`;
}

/** Path of one object. */
export function getObjectPath(resource: ApiResource, namespace: string, name: string): string {
  return `${getCollectionPath(resource, namespace)}/${encodeName(name)}`;
}

/**
 * Checks a path from elsewhere, and returns it unchanged.
 *
 * @throws InvalidInputError if it is not a path or has unencoded characters.
 */
export function checkPath(path: string): string {
  if (/^\/[\x21-\x7e]*$/.test(path)) return path;
  throw new InvalidInputError(`a path of the API server must begin with a slash and be URL-encoded: ${path}`);
}

/** The path with a query appended. */
export function withQuery(path: string, query: Query): string {
  let text = '';
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    text += `${text === '' ? '?' : '&'}${key}=${encodeURIComponent(value)}`;
  }
  return path + text;
}

/**
 * Encodes a name as one path segment, as the last line of defence. An empty name would address the whole collection (a delete would empty
 * it), dots the parent path, and an encoded slash a subresource: an API server decodes before it splits.
 *
 * @throws InvalidInputError for a name that Kubernetes does not allow.
 */
function encodeName(name: string): string {
  return encodeURIComponent(checkName(name));
}
