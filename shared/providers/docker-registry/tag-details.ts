import type { Clock } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { VisibleError } from '#core/errors.ts';
import type { RegistryAccount } from './account.ts';
import type { CachedTag } from './cached-tags.ts';
import { requestsAtOnce } from './limits.ts';
import type { RegistryClient } from './registry-client.ts';

/** What looking at tags works with. */
export interface DetailsOptions {
  readonly account: RegistryAccount;
  readonly client: RegistryClient;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Monotonic time, milliseconds, after which no tag is looked at any more: the rest is for the next run. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** What came of looking at tags. */
export interface DetailedTags {
  /** Those that are known, in their order. */
  readonly tags: readonly CachedTag[];
  /** The first tag that was put off; undefined when all were looked at. */
  readonly leftFrom: string | undefined;
}

/** What is known of the tags of a repository. */
export interface KnownTags {
  /** What is cached of them, by tag. */
  readonly known: ReadonlyMap<string, CachedTag>;
  /** Whether a tag that is known is to be looked at again. */
  isDue(name: string): boolean;
  /** As {@link DetailsOptions.untilMs}, which is the default. */
  readonly untilMs?: number;
}

/** What is known of a tag by its digest. */
type ImagePart = Pick<CachedTag, 'created' | 'labels'>;

/** Looks at what tags of one account stand for, as far as the account wants to know. */
export class TagDetails {
  readonly #options: DetailsOptions;

  constructor(options: DetailsOptions) {
    this.#options = options;
  }

  /** Whether the account wants to know more than lists of tags tell: those of ECR have digests and dates. */
  get isWanted(): boolean {
    const { trackDigests, ecr } = this.#options.account;
    return (trackDigests && ecr === undefined) || this.#wantsImages;
  }

  get #wantsImages(): boolean {
    const { inspectDigests, sortTagsByDate, ecr } = this.#options.account;
    return inspectDigests || (sortTagsByDate && ecr === undefined);
  }

  /**
   * Looks at tags. One that is gone is left out, and so is one that has to wait for the next run, unless it is known already.
   *
   * @param listed sorted by name, with what is known of them now.
   */
  async look(
    repository: string,
    listed: readonly CachedTag[],
    { known, isDue, untilMs = this.#options.untilMs }: KnownTags,
  ): Promise<DetailedTags> {
    if (!this.isWanted) return { tags: listed, leftFrom: undefined };
    const images = this.#listImages(known);
    const put = new Set<string>();
    const found = await mapConcurrently(listed, requestsAtOnce, async (tag) => {
      const { name } = tag;
      const before = pickKnown(tag, known);
      if (before?.digest !== undefined && !isDue(name) && this.#isComplete(before)) {
        return { ...before, ...tag };
      }
      if (this.#options.clock.monotonic() >= untilMs) {
        put.add(name);
        return tag.digest === undefined ? before : { ...before, ...tag };
      }
      return this.#lookAt(repository, tag, images);
    });
    const leftFrom = listed.find(({ name }) => put.has(name))?.name;
    return { tags: found.filter((tag) => tag !== undefined), leftFrom };
  }

  async #lookAt(
    repository: string,
    tag: CachedTag,
    images: Map<string, Promise<ImagePart>>,
  ): Promise<CachedTag | undefined> {
    const { client, signal } = this.#options;
    const digest = tag.digest ?? (await client.findDigest(repository, tag.name, signal));
    if (digest === undefined || !this.#wantsImages)
      return digest === undefined ? undefined : { ...tag, digest };
    const image = images.get(digest) ?? this.#findImage(repository, digest);
    images.set(digest, image);
    return { ...(await image), ...tag, digest };
  }

  /** The images that are known: one of a digest stays as it is for ever. */
  #listImages(known: ReadonlyMap<string, CachedTag>): Map<string, Promise<ImagePart>> {
    const images = new Map<string, Promise<ImagePart>>();
    for (const tag of known.values()) {
      const { name: _, digest, ...image } = tag;
      if (digest !== undefined && this.#isComplete(tag)) images.set(digest, Promise.resolve(image));
    }
    return images;
  }

  /** Nothing for an image that cannot be read: its tag counts all the same, and it is looked at again. */
  async #findImage(repository: string, digest: string): Promise<ImagePart> {
    const { account, client, signal } = this.#options;
    try {
      const { created, labels } = await client.getImageDetails(repository, digest, signal);
      return { ...(created !== undefined && { created }), labels: account.inspectDigests ? labels : {} };
    } catch (error) {
      if (signal.aborted || !(error instanceof VisibleError)) throw error;
      return {};
    }
  }

  #isComplete(tag: CachedTag): boolean {
    return !this.#wantsImages || tag.labels !== undefined;
  }
}

/** What is cached of a tag, unless it stands for another image by now, as far as its list tells. */
function pickKnown(
  { name, digest }: CachedTag,
  known: ReadonlyMap<string, CachedTag>,
): CachedTag | undefined {
  const before = known.get(name);
  return digest === undefined || digest === before?.digest ? before : undefined;
}
