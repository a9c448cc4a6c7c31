import type { Clock } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { VisibleError } from '#core/errors.ts';
import type { RegistryAccount } from './account.ts';
import type { CachedTag } from './cached-tags.ts';
import { requestsAtOnce } from './limits.ts';
import type { RegistryClient } from './registry-client.ts';

interface DetailsOptions {
  readonly account: RegistryAccount;
  readonly client: RegistryClient;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Monotonic time, milliseconds, after which no tag is inspected any more: the rest is left for the next run. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** The result of inspecting tags. */
interface DetailedTags {
  /** The known tags, in order. */
  readonly tags: readonly CachedTag[];
  /** The first postponed tag; undefined if all were inspected. */
  readonly leftFrom: string | undefined;
}

/** What is known of the tags of a repository. */
interface KnownTags {
  /** The cached ones, by name. */
  readonly known: ReadonlyMap<string, CachedTag>;
  /** Whether a known tag must be inspected again. */
  isDue(name: string): boolean;
  /** Like {@link DetailsOptions.untilMs}, which is the default. */
  readonly untilMs?: number;
}

/** The details of a tag that depend on its digest. */
type ImagePart = Pick<CachedTag, 'created' | 'labels'>;

/** Inspects the images of one account's tags, as far as the account asks for. */
export class TagDetails {
  readonly #options: DetailsOptions;

  constructor(options: DetailsOptions) {
    this.#options = options;
  }

  /** Whether the account asks for more than lists of tags contain: ECR's have digests and dates. */
  get isWanted(): boolean {
    const { trackDigests, ecr } = this.#options.account;
    return (trackDigests && ecr === undefined) || this.#wantsImages;
  }

  get #wantsImages(): boolean {
    const { inspectDigests, sortTagsByDate, ecr } = this.#options.account;
    return inspectDigests || (sortTagsByDate && ecr === undefined);
  }

  /**
   * Inspects tags. Leaves out those that are gone, and those that must wait for the next run unless they are already known.
   *
   * @param listed sorted by name, with what is known of them.
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

  /** The known images: the image of a digest never changes. */
  #listImages(known: ReadonlyMap<string, CachedTag>): Map<string, Promise<ImagePart>> {
    const images = new Map<string, Promise<ImagePart>>();
    for (const tag of known.values()) {
      const { name: _, digest, ...image } = tag;
      if (digest !== undefined && this.#isComplete(tag)) images.set(digest, Promise.resolve(image));
    }
    return images;
  }

  /** Nothing for an unreadable image: its tag still counts, and it is inspected again. */
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

/** The cached tag, unless the list shows that it refers to another image now. */
function pickKnown(
  { name, digest }: CachedTag,
  known: ReadonlyMap<string, CachedTag>,
): CachedTag | undefined {
  const before = known.get(name);
  return digest === undefined || digest === before?.digest ? before : undefined;
}
