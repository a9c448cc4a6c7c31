import { retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { FailedOperationError, getErrorMessage } from '#core/errors.ts';
import { isDigest, isRepositoryName, isTag } from '#oci/names.ts';
import type { EcrPageOptions, EcrRegistry, EcrService, EcrToken } from '#platform/ports/ecr.ts';
import { ServiceBusyError } from '#platform/ports/lookup.ts';
import type { CachedTag, TagListing } from './cached-tags.ts';
import { ecrTriesMax, pagesMax, repositoriesMax, requestsPerSecond, tagsMax } from './limits.ts';
import { createPace } from './pace.ts';

const backOff = { firstMs: 500, fixedShare: 0.5 };

interface EcrClientOptions {
  readonly registry: EcrRegistry;
  /** Undefined if this process has no access to ECR. */
  readonly service: EcrService | undefined;
  /** Multiple of the usual pace. */
  readonly threads: number;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken?: string | undefined;
}

/**
 * Lists a registry by ECR's API, at the account's pace: a page has up to a thousand images with their tags, digests and push dates, so that
 * no manifest is requested.
 */
export class EcrClient implements TagListing {
  readonly #options: EcrClientOptions;
  readonly #waitForTurn: (signal: AbortSignal) => Promise<void>;

  constructor(options: EcrClientOptions) {
    this.#options = options;
    this.#waitForTurn = createPace(options.clock, requestsPerSecond * options.threads);
  }

  async listRepositories(signal: AbortSignal): Promise<readonly string[]> {
    const names = await this.#listPages('repositories', repositoriesMax, async (nextToken) => {
      const options = { nextToken, signal };
      const page = await this.#call(signal, (ecr, registry) => ecr.describeRepositories(registry, options));
      return { ...page, items: page.names };
    });
    return [...new Set(names ?? [])].filter((name) => isRepositoryName(name));
  }

  async listTags(repository: string, signal: AbortSignal): Promise<readonly CachedTag[] | undefined> {
    const tags = new Map<string, CachedTag>();
    const images = await this.#listPages('images', tagsMax, async (nextToken) => {
      const page = await this.#describeImages(repository, { nextToken, signal });
      return page && { ...page, items: page.images };
    });
    for (const { digest, tags: names, pushedAt } of images ?? []) {
      const known = { ...(isDigest(digest) && { digest }), ...(pushedAt && { created: pushedAt }) };
      for (const name of names) if (isTag(name)) tags.set(name, { name, ...known });
    }
    if (tags.size > tagsMax) throw tooMany(`${tagsMax} tags`);
    return images && [...tags.values()];
  }

  /** The user and password that the registry itself accepts. */
  getAuthorizationToken(signal: AbortSignal): Promise<EcrToken> {
    return this.#call(signal, (ecr, registry) => ecr.getAuthorizationToken(registry, signal));
  }

  #describeImages(repository: string, options: EcrPageOptions) {
    return this.#call(options.signal, (ecr, registry) => ecr.describeImages(registry, repository, options));
  }

  /** The items of all pages; undefined if there is no such list. */
  async #listPages<T>(
    what: string,
    itemsMax: number,
    ask: (nextToken: string | undefined) => Promise<Page<T> | undefined>,
  ): Promise<readonly T[] | undefined> {
    const items: T[] = [];
    let nextToken: string | undefined;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const page: Page<T> | undefined = await ask(nextToken);
      if (page === undefined) return undefined;
      items.push(...page.items);
      if (items.length > itemsMax) throw tooMany(`${itemsMax} ${what}`);
      if (page.nextToken === undefined) return items;
      nextToken = page.nextToken;
    }
    throw tooMany(`${pagesMax} pages of ${what}`);
  }

  /** Makes a call when its turn comes, and retries while ECR is busy. */
  async #call<T>(
    signal: AbortSignal,
    act: (service: EcrService, registry: EcrRegistry) => Promise<T>,
  ): Promise<T> {
    const { service, registry, clock, randomness } = this.#options;
    if (service === undefined) throw new FailedOperationError('there is no way to ask ECR from here');
    const isRetryable = (error: unknown) => error instanceof ServiceBusyError;
    try {
      return await retry(
        { backOff, triesMax: ecrTriesMax, clock, randomness, signal, isRetryable },
        async () => {
          await this.#waitForTurn(signal);
          return act(service, registry);
        },
      );
    } catch (cause) {
      signal.throwIfAborted();
      throw new FailedOperationError(getErrorMessage(cause), { cause });
    }
  }
}

function tooMany(what: string): FailedOperationError {
  return new FailedOperationError(`ECR answered more than ${what}`);
}
