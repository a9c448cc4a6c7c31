import type { CacheStore } from '#caching/store/cache-store.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { ViewedList } from './views.ts';

/** Which images are asked for. Members left out do not restrict them. */
export interface ImageQuery {
  readonly account?: string | undefined;
  /** Part of `registry/repository:tag`, in any case. */
  readonly q?: string | undefined;
  readonly repository?: string | undefined;
  /** Only used together with `repository`. */
  readonly tag?: string | undefined;
  /** How many are examined, before `repository` and `tag` choose among them. */
  readonly count?: number | undefined;
  /** Whether labels and dates are shown. */
  readonly includeDetails: boolean;
}

/** Images, or charts, of one provider in the cache, of the accounts that may be shown. Nothing calls a registry. */
export interface ImageReader {
  /** Images in the provider's own form, those of registries by account, repository and tag. */
  findImages(query: ImageQuery): Promise<ViewedList>;
  /** The tags of a repository: by name, or newest first where its account is set so. None for an unknown one. */
  listImageTags(account: string, repository: string): Promise<ViewedList<string>>;
}

/** A provider's images. Clouddriver calls it `ImageProvider`. */
export interface ImageViews {
  /** Ids of the providers under which its images are asked for: its own, and others that have their images there. */
  readonly cloudProviders: readonly string[];
  /** Opens the images in a cache; shows only accounts that `mayRead` allows. Makes no call. */
  open(options: OpenImagesOptions): Promise<ImageReader>;
}

interface OpenImagesOptions {
  readonly cache: CacheStore;
  mayRead(account: string): boolean;
  /** Images, or charts in registries. */
  readonly content: RegistryContent;
}

/** The content of registries. */
export type RegistryContent = 'images' | 'charts';

/** The largest `count`. */
const countMax = 10_000_000;

/** Reads the query of `GET /{cloudProvider}/images/find`; an empty parameter is absent. @throws InvalidInputError naming one */
export function parseImageQuery(source: {
  findQuery(name: string): string | undefined;
  getFlag(name: string, otherwise: boolean): boolean;
}): ImageQuery {
  const find = (name: string): string | undefined => source.findQuery(name) || undefined;
  return {
    account: find('account'),
    q: find('q'),
    repository: find('repository'),
    tag: find('tag'),
    count: parseCount(find('count')),
    includeDetails: source.getFlag('includeDetails', false),
  };
}

function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= countMax) return count || undefined;
  throw new InvalidInputError(`Query parameter 'count' must be a whole number from 0 to ${countMax}`);
}
