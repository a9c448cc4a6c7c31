import type { CacheStore } from '#caching/store/cache-store.ts';
import type { RegistryTagView } from '#contract/answers/images.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { ViewedList } from './views.ts';

/** Which images are asked for. What is left out does not matter. */
export interface ImageQuery {
  readonly account?: string | undefined;
  /** Part of `registry/repository:tag`, in any case. */
  readonly q?: string | undefined;
  readonly repository?: string | undefined;
  /** Counts together with `repository` alone. */
  readonly tag?: string | undefined;
  /** How many are looked at, before `repository` and `tag` choose among them. */
  readonly count?: number | undefined;
  /** Whether labels and dates are shown. */
  readonly includeDetails: boolean;
}

/** Images, or charts, of one provider over the cache, of the accounts that may be shown. Nothing calls a registry. */
export interface ImageReader {
  /** Images by account, repository and tag, in this order. */
  findImages(query: ImageQuery): Promise<ViewedList<RegistryTagView>>;
  /** The tags of a repository: by name, or newest first where its account wants that. None for what is not there. */
  listImageTags(account: string, repository: string): Promise<ViewedList<string>>;
}

/** What a provider has of images. Clouddriver calls it `ImageProvider`. */
export interface ImageViews {
  /** Ids of the providers in whose name its images are asked for: its own, and others that have theirs there. */
  readonly cloudProviders: readonly string[];
  /** Opens the images over a cache, in which only accounts that `mayRead` allows are shown. Makes no call. */
  open(options: OpenImagesOptions): Promise<ImageReader>;
}

/** What images are opened with. */
export interface OpenImagesOptions {
  readonly cache: CacheStore;
  mayRead(account: string): boolean;
  /** Images, or the charts that stand in registries as images do. */
  readonly content: RegistryContent;
}

/** What registries have. */
export type RegistryContent = 'images' | 'charts';

/** Images that may be counted. */
const countMax = 10_000_000;

/** The parts of a request that say which images are asked for. */
interface QuerySource {
  findQuery(name: string): string | undefined;
  getFlag(name: string, otherwise: boolean): boolean;
}

/**
 * Reads what `GET /{cloudProvider}/images/find` is asked. An empty parameter is as good as none.
 *
 * @throws InvalidInputError naming the parameter.
 */
export function parseImageQuery(source: QuerySource): ImageQuery {
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
