import { FailedOperationError } from '#core/errors.ts';
import type { ImageDescription } from '../descriptions/container.ts';

/**
 * The image that a description names, in the form of a container's: `registry/repository:tag`, or `…@digest`. A `uri` wins over parts. The
 * part before its first slash is a registry if it is `localhost`, or has a dot or a colon.
 *
 * @param defaultRegistry the registry of images that name none, such as `gcr.io`
 * @throws FailedOperationError if no repository is named.
 */
export function formatImage(image: Partial<ImageDescription>, defaultRegistry: string): string {
  const parts = image.uri ? parseUri(image.uri) : image;
  if (!parts.repository) throw new FailedOperationError('Image descriptions must provide a repository.');
  const name = `${parts.registry || defaultRegistry}/${parts.repository}`;
  return parts.digest ? `${name}@${parts.digest}` : `${name}:${parts.tag || 'latest'}`;
}

/** Reads the name of an image into its parts; those that it lacks are undefined. */
export function parseUri(uri: string): Pick<ImageDescription, 'registry' | 'repository' | 'tag' | 'digest'> {
  const slash = uri.indexOf('/');
  const host = slash < 0 ? '' : uri.slice(0, slash);
  const isRegistry = host.startsWith('localhost') || host.includes('.') || host.includes(':');
  const path = isRegistry ? uri.slice(slash + 1) : uri;
  const registry = isRegistry ? host : undefined;
  const [repository, digest] = splitAt(path, '@');
  if (digest !== undefined) return { registry, repository, tag: undefined, digest };
  const [name, tag] = splitAt(path, ':');
  return { registry, repository: name, tag, digest: undefined };
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}
