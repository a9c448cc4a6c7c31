import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { CachingResult, CachingRun, UpdateResult } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { FailedOperationError, getErrorMessage, VisibleError } from '#core/errors.ts';
import { asJsonArray, getPath } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import { isRepositoryName } from '#oci/names.ts';
import type { RegistryAccount, RepositoryChoice } from './account.ts';
import type { CachedTag, RepositoryKind, TagListing } from './cached-tags.ts';
import {
  type CachingAgentState,
  formatState,
  parseState,
  type RepositoryState,
} from './caching-agent-state.ts';
import { repositoriesMax, requestsAtOnce } from './limits.ts';
import { PushedImages } from './pushed-images.ts';
import type { RegistryClient } from './registry-client.ts';
import { RepositoryWriter } from './repository-writer.ts';
import { TagDetails } from './tag-details.ts';

/** The most repositories of an account whose runs share a worker with other accounts. */
export const sharedRepositoriesMax = 200;

/** Milliseconds of a run in which tags are inspected; the rest is left for the next run. */
export const lookMs = 120_000;

/** Milliseconds of a run in which digests are requested again, since tags may move: the longest waiting ones first. */
export const lookAgainMs = 10_000;

/** Milliseconds after which a digest is requested again within {@link lookMs}, however many there are. */
export const digestLifetimeMs = 600_000;

/** The most names of broken repositories that a run reports. */
const brokenToldMax = 5;

interface CachingAgentRunOptions {
  readonly account: RegistryAccount;
  readonly client: RegistryClient;
  readonly listing: TagListing;
  readonly clock: Clock;
  /** The kind to bring up to date. */
  readonly kind: RepositoryKind;
}

/**
 * Brings the cache of a registry's images or charts up to date: lists the repositories and their tags, and writes changes.
 *
 * @throws FailedOperationError if the repositories cannot be listed, or none of them can be read: nothing is evicted then.
 */
export async function runImageCachingAgent(
  options: CachingAgentRunOptions,
  run: CachingRun,
): Promise<CachingResult> {
  const known = parseState(run.state);
  // Everything must be read: too much to do beside other runs.
  if (known === undefined && !run.isAlone) return toListing(run, 0);
  const repositories = await listRepositories(options, run.signal);
  if (repositories.length > sharedRepositoriesMax && !run.isAlone) return toListing(run, repositories.length);
  return new ImageAgentRun(options, run, known).run(repositories);
}

function toListing({ state = '' }: CachingRun, items: number): CachingResult {
  return { outcome: 'listing', state, items, changes: 0 };
}

/** The names that the account lists, or those of the catalog that it chooses. */
async function listRepositories(
  options: CachingAgentRunOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const repositories = getChoice(options);
  const { names, catalogFile } = repositories;
  const listed = async () => {
    if (names.length > 0) return names;
    return catalogFile === undefined ? options.listing.listRepositories(signal) : readCatalog(catalogFile);
  };
  return (await listed()).filter((name) => isChosen(name, repositories));
}

function getChoice({ account, kind }: CachingAgentRunOptions): RepositoryChoice {
  return kind === 'chart' ? account.charts : account.repositories;
}

/** Whether an existing repository, or one in the account's list, counts. */
function isChosen(name: string, { pattern, skip }: RepositoryChoice): boolean {
  return !skip.has(name) && (pattern?.test(name) ?? true);
}

/** What changed in a registry. */
export interface RepositoryChange {
  readonly repository: string;
  /** The tag that was pushed, if one was. */
  readonly pushedTag?: string | undefined;
}

/**
 * Brings the cache of one repository up to date, even beside a run: later observations win. Ignores a repository that the account does not
 * choose.
 *
 * @throws FailedOperationError if the repository cannot be read.
 */
export async function updateRepository(
  options: CachingAgentRunOptions,
  { repository, pushedTag }: RepositoryChange,
  { cache, signal }: Pick<CachingRun, 'cache' | 'signal'>,
): Promise<UpdateResult> {
  const { account, client, clock, kind, listing } = options;
  const repositories = getChoice(options);
  const { names } = repositories;
  const isListed = names.length === 0 || names.includes(repository);
  if (!isListed || !isRepositoryName(repository) || !isChosen(repository, repositories))
    return { changes: 0, events: [] };
  const atMs = clock.now();
  const writer = new RepositoryWriter({
    ...{ account: account.name, kind, cache, startedAtMs: atMs },
    ensureHeld: () => signal.throwIfAborted(),
  });
  const details = new TagDetails({ account, client, clock, signal, untilMs: clock.monotonic() + lookMs });
  const tags = await listing.listTags(repository, signal);
  const before = await writer.countObjects(repository);
  if (tags === undefined) {
    await writer.remove(repository, before);
    return { changes: writer.changes, events: [] };
  }
  const known = toTagMap(before === 0 ? [] : await writer.read(repository, before));
  const looked = await details.look(repository, sortTags(tags), { known, isDue: () => false });
  await writer.write(repository, looked.tags, before);
  const pushed = new PushedImages({ account, atMs });
  // In a repository that no run has seen yet, all other tags may be old.
  const told = before > 0 ? looked.tags : looked.tags.filter(({ name }) => name === pushedTag);
  pushed.add(repository, known, told);
  return { changes: writer.changes, events: kind === 'chart' ? [] : pushed.events };
}

function sortTags(tags: readonly CachedTag[]): readonly CachedTag[] {
  return [...tags].sort((one, other) => compareText(one.name, other.name));
}

function toTagMap(tags: readonly CachedTag[]): ReadonlyMap<string, CachedTag> {
  return new Map(tags.map((tag) => [tag.name, tag]));
}

/** @throws FailedOperationError naming the option */
async function readCatalog(file: string): Promise<readonly string[]> {
  try {
    const names = asJsonArray(getPath(JSON.parse(await readFile(file, 'utf8')), 'repositories'));
    const usable = names.filter((name) => typeof name === 'string').filter((name) => isRepositoryName(name));
    return [...new Set(usable)].slice(0, repositoriesMax);
  } catch (cause) {
    const message = 'catalogFile cannot be read: expected JSON like {"repositories": ["a/b"]}';
    throw new FailedOperationError(message, { cause });
  }
}

/** The state of an unknown repository, whose tags may all be old. */
const unknownState: RepositoryState = {
  ...{ hash: '', chunks: 0, revision: '', checkedAtMs: 0, checkedTo: '' },
  isFilled: false,
};

const noneTold = { events: [], untold: 0 };

class ImageAgentRun {
  readonly #options: CachingAgentRunOptions;
  readonly #run: CachingRun;
  readonly #known: CachingAgentState | undefined;
  readonly #startedAtMs: number;
  readonly #writer: RepositoryWriter;
  readonly #details: TagDetails;
  readonly #pushed: PushedImages;
  readonly #next = new Map<string, RepositoryState>();
  readonly #broken = new Map<string, VisibleError>();

  constructor(options: CachingAgentRunOptions, run: CachingRun, known: CachingAgentState | undefined) {
    const { account, client, clock, kind } = options;
    const { cache, signal, ensureHeld } = run;
    this.#options = options;
    this.#run = run;
    this.#known = known;
    this.#startedAtMs = clock.now();
    const startedAtMs = this.#startedAtMs;
    this.#writer = new RepositoryWriter({ account: account.name, kind, cache, startedAtMs, ensureHeld });
    this.#pushed = new PushedImages({ account, atMs: this.#startedAtMs });
    this.#details = new TagDetails({ account, client, clock, signal, untilMs: clock.monotonic() + lookMs });
  }

  async run(repositories: readonly string[]): Promise<CachingResult> {
    const known = await this.#findKnown();
    await this.#forEach(repositories, (repository) => this.#update(repository, known.get(repository)));
    if (repositories.length > 0 && this.#broken.size === repositories.length) {
      const [cause] = this.#broken.values();
      throw new FailedOperationError(`no repository can be read: ${getErrorMessage(cause)}`, { cause });
    }
    const wanted = new Set(repositories);
    for (const [repository, { chunks }] of known) {
      if (!wanted.has(repository)) await this.#writer.remove(repository, chunks);
    }
    if (this.#details.isWanted && this.#options.account.ecr === undefined) {
      const untilMs = this.#options.clock.monotonic() + lookAgainMs;
      await this.#forEach(this.#listKnown(), (repository) => this.#check(repository, untilMs));
    }
    return this.#toResult();
  }

  /**
   * The state of the last run. If it is lost, everything cached is compared; for ECR, whose events update the cache too, everything written
   * since.
   */
  async #findKnown(): Promise<CachingAgentState> {
    const last = this.#known;
    if (last !== undefined && this.#options.account.ecr === undefined) return last;
    const cached = await this.#writer.listCached();
    return new Map(
      [...cached].map(([repository, stored]) => {
        const known = last?.get(repository);
        const isSame = known?.chunks === stored.chunks && known.revision === stored.revision;
        // A repository that an event brought into the cache is complete.
        const isFilled = last !== undefined && (known?.isFilled ?? true);
        return [repository, isSame ? known : { ...unknownState, ...stored, isFilled }];
      }),
    );
  }

  /** A failure for one repository does not affect others, and its cache stays. */
  async #forEach(repositories: readonly string[], act: (repository: string) => Promise<void>): Promise<void> {
    const { signal } = this.#run;
    await forEachConcurrently(
      repositories,
      requestsAtOnce * this.#options.account.threads,
      async (repository) => {
        try {
          signal.throwIfAborted();
          await act(repository);
        } catch (error) {
          if (signal.aborted || !(error instanceof VisibleError)) throw error;
          this.#broken.set(repository, error);
        }
      },
    );
  }

  async #update(repository: string, last: RepositoryState | undefined): Promise<void> {
    // A repository that appears after the first run is new, and so are all its tags.
    const known = last ?? (this.#known === undefined ? unknownState : undefined);
    if (known !== undefined) this.#next.set(repository, known);
    const tags = await this.#options.listing.listTags(repository, this.#run.signal);
    if (tags === undefined) {
      await this.#writer.remove(repository, known?.chunks ?? 0);
      this.#next.delete(repository);
      return;
    }
    const listed = sortTags(tags);
    const hash = toHash(listed);
    if (known?.hash === hash) return;
    const before = known?.chunks ?? 0;
    const cached = await this.#readTags(repository, before);
    const looked = await this.#details.look(repository, listed, { known: cached, isDue: () => false });
    const written = await this.#writer.write(repository, looked.tags, before);
    const isFilled = known?.isFilled ?? true;
    if (isFilled) this.#pushed.add(repository, cached, looked.tags);
    this.#next.set(repository, {
      ...written,
      hash: looked.leftFrom === undefined ? hash : '',
      isFilled: isFilled || looked.leftFrom === undefined,
      checkedAtMs: known?.checkedAtMs || this.#startedAtMs,
      checkedTo: known?.checkedTo ?? '',
    });
  }

  /** Repositories whose digests may be requested again, the longest waiting ones first. */
  #listKnown(): readonly string[] {
    const known = [...this.#next].filter(
      ([repository, { checkedAtMs }]) => !this.#broken.has(repository) && checkedAtMs < this.#startedAtMs,
    );
    return known.sort(([, one], [, other]) => one.checkedAtMs - other.checkedAtMs).map(([name]) => name);
  }

  /** Requests the digests of a repository again, from where the last run stopped. @param untilMs monotonic; later if it waited long */
  async #check(repository: string, untilMs: number): Promise<void> {
    const state = this.#next.get(repository);
    if (state === undefined) return;
    const isLate = this.#startedAtMs - state.checkedAtMs >= digestLifetimeMs;
    if (!isLate && this.#options.clock.monotonic() >= untilMs) return;
    const cached = await this.#readTags(repository, state.chunks);
    const isDue = (name: string) => name > state.checkedTo;
    const names = [...cached.keys()].map((name) => ({ name }));
    const looked = await this.#details.look(repository, names, {
      known: cached,
      isDue,
      ...(!isLate && { untilMs }),
    });
    const written = await this.#writer.write(repository, looked.tags, state.chunks);
    if (state.isFilled) this.#pushed.add(repository, cached, looked.tags);
    const { leftFrom } = looked;
    const isWhole = leftFrom === undefined;
    const last = isWhole ? undefined : [...cached.keys()].filter((name) => name < leftFrom).at(-1);
    this.#next.set(repository, {
      ...state,
      ...written,
      checkedAtMs: isWhole ? this.#startedAtMs : state.checkedAtMs,
      checkedTo: isWhole ? '' : (last ?? state.checkedTo),
    });
  }

  async #readTags(repository: string, chunks: number) {
    return toTagMap(chunks === 0 ? [] : await this.#writer.read(repository, chunks));
  }

  #toResult(): CachingResult {
    const broken = [...this.#broken];
    const told = broken
      .slice(0, brokenToldMax)
      .map(([repository, { message }]) => `${repository} (${message})`);
    const more = broken.length - told.length;
    const states = [...this.#next.values()];
    const isUnfinished = states.some(({ hash }) => hash === '');
    // Events report only images.
    const { events, untold } = this.#options.kind === 'chart' ? noneTold : this.#pushed;
    return {
      outcome: 'done',
      state: formatState(this.#next),
      items: states.filter(({ chunks }) => chunks > 0).length,
      changes: this.#writer.changes,
      // If a repository could not be read, or not completely, the cache is not complete as of now.
      asOfMs: broken.length === 0 && !isUnfinished ? this.#startedAtMs : undefined,
      events,
      ...((told.length > 0 || untold > 0) && {
        details: {
          ...(told.length > 0 && { broken: `${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}` }),
          ...(untold > 0 && { pushedUntold: untold }),
        },
      }),
    };
  }
}

function toHash(tags: readonly CachedTag[]): string {
  return createHash('sha256').update(JSON.stringify(tags)).digest('base64url').slice(0, 22);
}
