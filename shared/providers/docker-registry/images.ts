import type { CacheStore, StoredObject } from '#caching/store/cache-store.ts';
import type { RegistryTagView } from '#contract/answers/images.ts';
import { compareText } from '#core/text-order.ts';
import type { ImageQuery, ImageReader } from '#views/images.ts';
import type { RegistryAccount } from './account.ts';
import {
  type CachedTag,
  countChunks,
  parseChunkName,
  type RepositoryKind,
  readChunks,
  toChunkKey,
} from './cached-tags.ts';

/** The parts of an account that are read. */
interface AccountReading {
  readonly cache: CacheStore;
  readonly account: RegistryAccount;
  readonly kind: RepositoryKind;
}

/** A repository of an account with its tags, sorted by name. */
interface CachedRepository {
  readonly account: RegistryAccount;
  readonly kind: RepositoryKind;
  readonly repository: string;
  readonly tags: readonly CachedTag[];
}

/** The part of a cache to show. */
interface ImageReaderOptions {
  readonly cache: CacheStore;
  /** The accounts that may be shown. */
  readonly accounts: readonly RegistryAccount[];
  readonly kind: RepositoryKind;
}

/** The artifact type of each kind. */
const artifactTypes = { repository: 'docker', chart: 'helm/image' } as const;

/** The images in a cache, or the charts. */
export function createImageReader({ cache, accounts, kind }: ImageReaderOptions): ImageReader {
  const byName = [...accounts].sort((one, other) => compareText(one.name, other.name));
  return {
    async findImages(query) {
      const asked = byName.filter(({ name }) => query.account === undefined || name === query.account);
      const value: RegistryTagView[] = [];
      const state = { left: query.count ?? Number.POSITIVE_INFINITY };
      for (const account of asked) {
        for (const found of await readRepositories({ cache, account, kind }, query)) {
          value.push(...pickImages(found, query, state));
        }
      }
      return { value, accounts: asked.map(({ name }) => name) };
    },
    async listImageTags(name, repository) {
      const account = byName.find((each) => each.name === name);
      if (account === undefined) return { value: [], accounts: [] };
      const tags = await readRepository({ cache, account, kind }, repository);
      const sorted = account.sortTagsByDate ? sortByDate(tags) : tags;
      return { value: sorted.map((tag) => tag.name), accounts: [name] };
    },
  };
}

/** The repositories that a query may need: only one if it names that and does not skip any first. */
async function readRepositories(
  reading: AccountReading,
  { repository, count }: ImageQuery,
): Promise<readonly CachedRepository[]> {
  const { cache, account, kind } = reading;
  if (repository !== undefined && count === undefined) {
    return [{ account, kind, repository, tags: await readRepository(reading, repository) }];
  }
  const chunks = new Map<string, StoredObject[]>();
  for await (const page of cache.listObjects(account.name, kind)) {
    for (const object of page) {
      const place = parseChunkName(object.key.name);
      const objects = chunks.get(place.repository) ?? [];
      objects[place.chunk] = object;
      chunks.set(place.repository, objects);
    }
  }
  return [...chunks]
    .sort(([one], [other]) => compareText(one, other))
    .map(([name, objects]) => ({ account, kind, repository: name, tags: readChunks(objects) }));
}

async function readRepository(
  { cache, account, kind }: AccountReading,
  repository: string,
): Promise<readonly CachedTag[]> {
  const place = { account: account.name, kind };
  const [first] = await cache.getObjects([toChunkKey(place, repository, 0)]);
  if (first === undefined) return [];
  const keys = Array.from({ length: countChunks(first) - 1 }, (_, index) =>
    toChunkKey(place, repository, index + 1),
  );
  return readChunks([first, ...(keys.length > 0 ? await cache.getObjects(keys) : [])]);
}

/** The images of a repository that match a query, up to its limit. */
function pickImages(
  { account, kind, repository, tags }: CachedRepository,
  query: ImageQuery,
  state: { left: number },
): readonly RegistryTagView[] {
  const text = query.q?.toLowerCase();
  const images: RegistryTagView[] = [];
  for (const tag of tags) {
    if (state.left <= 0) break;
    const reference = `${account.registry}/${repository}:${tag.name}`;
    if (text !== undefined && !reference.toLowerCase().includes(text)) continue;
    state.left -= 1;
    if (query.repository !== undefined && query.repository !== repository) continue;
    if (query.repository !== undefined && query.tag !== undefined && query.tag !== tag.name) continue;
    images.push(toImageView({ account, kind, repository, tag, reference }, query));
  }
  return images;
}

interface FoundTag extends Pick<CachedRepository, 'account' | 'kind' | 'repository'> {
  readonly tag: CachedTag;
  readonly reference: string;
}

function toImageView(
  { account, kind, repository, tag, reference }: FoundTag,
  { includeDetails }: ImageQuery,
): RegistryTagView {
  const { registry } = account;
  const labels = includeDetails ? (tag.labels ?? {}) : {};
  return {
    account: account.name,
    registry,
    repository,
    tag: tag.name,
    ...(account.trackDigests && tag.digest !== undefined && { digest: tag.digest }),
    artifact: {
      ...{ type: artifactTypes[kind], name: repository, version: tag.name, reference },
      metadata: { registry, labels },
    },
    ...(includeDetails && toDetails(tag)),
  };
}

/** The details that Igor passes on to pipelines. */
function toDetails({ created, labels = {} }: CachedTag) {
  const named = Object.entries(labels).filter(([name]) => detailLabels.includes(name));
  const date = toMs(created);
  return { ...Object.fromEntries(named), ...(date !== undefined && date >= 0 && { date }) };
}

/** Labels that Clouddriver shows with the artifact. */
const detailLabels: readonly string[] = ['buildNumber', 'commitId', 'branch'];

/** Newest first, those without a date last, and those of one date by name. */
function sortByDate(tags: readonly CachedTag[]): readonly CachedTag[] {
  const toRank = ({ created }: CachedTag) => toMs(created) ?? Number.NEGATIVE_INFINITY;
  return [...tags].sort((one, other) => {
    const [first, second] = [toRank(one), toRank(other)];
    return first === second ? compareText(one.name, other.name) : second - first;
  });
}

function toMs(created: string | undefined): number | undefined {
  const ms = created === undefined ? Number.NaN : Date.parse(created);
  return Number.isNaN(ms) ? undefined : ms;
}
