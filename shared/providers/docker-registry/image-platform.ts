import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  type KnownScope,
  type ListedPlatform,
  type ListedScope,
  type ListPlan,
  runListAgent,
  updateScope,
} from '#caching/engine/list-run.ts';
import type { ScopeMemory } from '#caching/engine/list-state.ts';
import type { CachingResult, CachingRun, UpdateResult } from '#caching/scheduling/caching-agent.ts';
import type { StoredObject } from '#caching/store/cache-store.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonArray, getPath, type JsonValue } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import { isRepositoryName } from '#oci/names.ts';
import type { RegistryAccount, RepositoryChoice } from './account.ts';
import { CachedRepositories } from './cached-repositories.ts';
import {
  type CachedTag,
  type RepositoryKind,
  readChunks,
  type TagListing,
  toChunkName,
  writeChunks,
} from './cached-tags.ts';
import { repositoriesMax, requestsAtOnce } from './limits.ts';
import { PushedImages } from './pushed-images.ts';
import type { RegistryClient } from './registry-client.ts';
import { formatMemory, parseMemory, type RepositoryMemory, unknownRepository } from './repository-memory.ts';
import { TagDetails } from './tag-details.ts';

/** Milliseconds of a run in which tags are inspected; the rest is left for the next run. */
export const lookMs = 120_000;

/** Milliseconds of a run in which digests are requested again, since tags may move: the longest waiting ones first. */
export const lookAgainMs = 10_000;

/** Milliseconds after which a digest is requested again within {@link lookMs}, however many there are. */
export const digestLifetimeMs = 600_000;

interface ImageAgentOptions {
  readonly account: RegistryAccount;
  readonly client: RegistryClient;
  readonly listing: TagListing;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The kind to bring up to date. */
  readonly kind: RepositoryKind;
}

/** Tags are cached as they are: bodies of chunks. */
const model = {
  positionName: 'time',
  hasTimedPositions: true,
  encode: (body: string) => body,
  decode: (body: string) => body,
};

/**
 * Brings the cache of a registry's images or charts up to date: lists the repositories and their tags, and writes changes.
 *
 * @throws FailedOperationError if the repositories cannot be listed, or none of them can be read: nothing is evicted then.
 */
export async function runImageCachingAgent(
  options: ImageAgentOptions,
  run: CachingRun,
): Promise<CachingResult> {
  const platform = new ImagePlatform(options, run);
  const result = await runListAgent(toListOptions(options, platform, run), run);
  const { events, untold } = platform.pushed;
  // Events report only images.
  if (result.outcome !== 'done' || options.kind === 'chart') return result;
  const details = { ...result.details, ...(untold > 0 && { pushedUntold: untold }) };
  return { ...result, events, ...(Object.keys(details).length > 0 && { details }) };
}

function toListOptions(
  { account: { name: account }, clock, randomness }: ImageAgentOptions,
  platform: ImagePlatform,
  { cache }: Pick<CachingRun, 'cache'>,
) {
  const writer = createCacheWriter({ cache, account, model, clock, randomness });
  return { account, platform, model, writer, clock };
}

/** The names that the account lists, or those of the catalog that it chooses. */
async function listRepositories(options: ImageAgentOptions, signal: AbortSignal): Promise<readonly string[]> {
  const repositories = getChoice(options);
  const { names, catalogFile } = repositories;
  const listed = async () => {
    if (names.length > 0) return names;
    return catalogFile === undefined ? options.listing.listRepositories(signal) : readCatalog(catalogFile);
  };
  return (await listed()).filter((name) => isChosen(name, repositories));
}

function getChoice({ account, kind }: ImageAgentOptions): RepositoryChoice {
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
  options: ImageAgentOptions,
  { repository, pushedTag }: RepositoryChange,
  run: Pick<CachingRun, 'cache' | 'signal'>,
): Promise<UpdateResult> {
  const choice = getChoice(options);
  const { names } = choice;
  const isListed = names.length === 0 || names.includes(repository);
  if (!isListed || !isRepositoryName(repository) || !isChosen(repository, choice))
    return { changes: 0, events: [] };
  const platform = new ImagePlatform(options, run, pushedTag);
  const memory = await platform.findMemory(repository);
  const changes = await updateScope(
    toListOptions(options, platform, run),
    { scope: repository, memory },
    run,
  );
  return { changes, events: options.kind === 'chart' ? [] : platform.pushed.events };
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

/** The repositories of a registry: each is a scope, and its tags are in one object or more. */
class ImagePlatform implements ListedPlatform<string> {
  readonly kind: RepositoryKind;
  readonly scopeName = 'repository';
  readonly concurrency: number;
  readonly pushed: PushedImages;
  readonly #options: ImageAgentOptions;
  readonly #cached: CachedRepositories;
  readonly #details: TagDetails;
  readonly #startedAtMs: number;
  /** The tag that an event reports, in a repository that no run has seen yet. */
  readonly #pushedTag: string | undefined;
  /** Monotonic time until which digests are requested again. */
  #againUntilMs = 0;

  constructor(
    options: ImageAgentOptions,
    { cache, signal }: Pick<CachingRun, 'cache' | 'signal'>,
    pushedTag?: string,
  ) {
    const { account, client, clock, kind } = options;
    this.#options = options;
    this.kind = kind;
    this.concurrency = requestsAtOnce * account.threads;
    this.#startedAtMs = clock.now();
    this.#pushedTag = pushedTag;
    this.#cached = new CachedRepositories(cache, { account: account.name, kind });
    this.pushed = new PushedImages({ account, atMs: this.#startedAtMs });
    this.#details = new TagDetails({ account, client, clock, signal, untilMs: clock.monotonic() + lookMs });
  }

  /** If what the last run left is lost, everything cached is compared; for ECR, whose events update the cache too, what was written since. */
  async plan(last: ReadonlyMap<string, ScopeMemory> | undefined, signal: AbortSignal): Promise<ListPlan> {
    const scopes = await listRepositories(this.#options, signal);
    if (last !== undefined && this.#options.account.ecr === undefined) return { scopes };
    // All tags may be old.
    const known = new Map<string, ScopeMemory>();
    if (last === undefined) for (const scope of scopes) known.set(scope, toScopeMemory(unknownRepository));
    for (const [repository, stored] of await this.#cached.list()) {
      const before = last?.get(repository);
      const memory = parseMemory(before?.memory);
      const isSame = memory?.chunks === stored.chunks && memory.revision === stored.revision;
      // A repository that an event brought into the cache is complete.
      const isFilled = last !== undefined && (memory?.isFilled ?? true);
      const unsure = toScopeMemory({ ...unknownRepository, ...stored, isFilled });
      known.set(repository, isSame && before !== undefined ? before : unsure);
    }
    return { scopes, known };
  }

  /** The memory of a repository by the cache alone. */
  async findMemory(repository: string): Promise<JsonValue> {
    const chunks = await this.#cached.countObjects(repository);
    return formatMemory({ ...unknownRepository, chunks, isFilled: chunks > 0 });
  }

  findCached(repository: string, memory: JsonValue | undefined) {
    const chunks = parseMemory(memory)?.chunks ?? 0;
    return Array.from({ length: chunks }, (_, chunk) => ({
      location: '',
      name: toChunkName(repository, chunk),
    }));
  }

  /** Repositories whose digests may be requested again, the longest waiting ones first. */
  listAgain(known: ReadonlyMap<string, ScopeMemory>): readonly string[] {
    const { account, clock } = this.#options;
    if (!this.#details.isWanted || account.ecr !== undefined) return [];
    this.#againUntilMs = clock.monotonic() + lookAgainMs;
    const times = [...known].map(([name, { memory }]) => ({
      name,
      atMs: parseMemory(memory)?.checkedAtMs ?? 0,
    }));
    const waiting = times.filter(({ atMs }) => atMs < this.#startedAtMs);
    return waiting.sort((one, other) => one.atMs - other.atMs).map(({ name }) => name);
  }

  async list(
    repository: string,
    { memory, isAgain, revision }: KnownScope,
    signal: AbortSignal,
  ): Promise<ListedScope<string> | 'unchanged' | undefined> {
    const known = parseMemory(memory);
    if (isAgain) return known === undefined ? 'unchanged' : this.#lookAgain(repository, known, revision);
    const tags = await this.#options.listing.listTags(repository, signal);
    if (tags === undefined) return undefined;
    const listed = sortTags(tags);
    const hash = toHash(listed);
    if (known?.hash === hash) return 'unchanged';
    const stored = await this.#cached.load(repository, known?.chunks ?? 0);
    const cached = toTagMap(readChunks(stored));
    const looked = await this.#details.look(repository, listed, { known: cached, isDue: () => false });
    // A repository that appears after the first run is new, and so are all its tags.
    const isFilled = known?.isFilled ?? true;
    const told = isFilled ? looked.tags : looked.tags.filter(({ name }) => name === this.#pushedTag);
    this.pushed.add(repository, cached, told);
    const isPartial = looked.leftFrom !== undefined;
    const next = {
      hash: isPartial ? '' : hash,
      isFilled: isFilled || !isPartial,
      checkedAtMs: known?.checkedAtMs || this.#startedAtMs,
      checkedTo: known?.checkedTo ?? '',
    };
    return { ...toListed(repository, looked.tags, { stored, revision, next }), isPartial };
  }

  /** Requests the digests of a repository again, from where the last run stopped: in time, or however late if it waited long. */
  async #lookAgain(
    repository: string,
    known: RepositoryMemory,
    revision: string,
  ): Promise<ListedScope<string> | 'unchanged'> {
    const isLate = this.#startedAtMs - known.checkedAtMs >= digestLifetimeMs;
    if (!isLate && this.#options.clock.monotonic() >= this.#againUntilMs) return 'unchanged';
    const stored = await this.#cached.load(repository, known.chunks);
    const cached = toTagMap(readChunks(stored));
    const names = [...cached.keys()];
    const looked = await this.#details.look(
      repository,
      names.map((name) => ({ name })),
      {
        known: cached,
        isDue: (name) => name > known.checkedTo,
        ...(!isLate && { untilMs: this.#againUntilMs }),
      },
    );
    if (known.isFilled) this.pushed.add(repository, cached, looked.tags);
    const { leftFrom } = looked;
    const last = leftFrom === undefined ? '' : names.filter((name) => name < leftFrom).at(-1);
    const next = {
      ...known,
      checkedAtMs: leftFrom === undefined ? this.#startedAtMs : known.checkedAtMs,
      checkedTo: last ?? known.checkedTo,
    };
    return toListed(repository, looked.tags, { stored, revision, next });
  }
}

/** The objects with a repository's tags, and what the next run is to know of them. */
function toListed(
  repository: string,
  tags: readonly CachedTag[],
  {
    stored,
    revision,
    next,
  }: {
    readonly stored: readonly (StoredObject | undefined)[];
    readonly revision: string;
    readonly next: Omit<RepositoryMemory, 'chunks' | 'revision'>;
  },
): ListedScope<string> {
  const bodies = writeChunks(tags);
  const revisions = bodies.map((body, chunk) => {
    const present = stored[chunk];
    return present?.readBody() === body ? present.revision : revision;
  });
  const latest = revisions.reduce((one, other) => (one > other ? one : other), '');
  return {
    objects: bodies.map((facts, chunk) => ({ location: '', name: toChunkName(repository, chunk), facts })),
    items: 1,
    memory: formatMemory({ ...next, chunks: bodies.length, revision: latest }),
  };
}

function toScopeMemory(memory: RepositoryMemory): ScopeMemory {
  return { items: memory.chunks > 0 ? 1 : 0, memory: formatMemory(memory) };
}

function toHash(tags: readonly CachedTag[]): string {
  return createHash('sha256').update(JSON.stringify(tags)).digest('base64url').slice(0, 22);
}
