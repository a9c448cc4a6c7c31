import { createHash } from 'node:crypto';
import { AccessDeniedError, FailedOperationError, getErrorMessage, InvalidInputError } from '#core/errors.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import type { AnswerQuery, RegistryFacts } from '#oci/answer-job.ts';
import { readRegistryAnswer } from '#oci/answers.ts';
import { Authentication } from '#oci/authentication.ts';
import { findNextPage } from '#oci/challenge.ts';
import { type BasicCredentials, createCredentials, type RegistryCredentials } from '#oci/credentials.ts';
import { smallAnswerBytesMax } from '#oci/limits.ts';
import { isDigest, isTag } from '#oci/names.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { findThreads } from '../download/answer-reading.ts';
import { CredentialsRefusedError } from '../download/credentials-refused.ts';
import type { DownloadAnswer, Downloader } from '../download/downloader.ts';
import { findNewestVersion, sortNewestFirst } from './chart-versions.ts';

/** The most bytes of a manifest, or of a page of tags. */
export const registryAnswerBytesMax = 4 * 2 ** 20;

/** The most versions of a chart. */
export const chartTagsMax = 50_000;

/** Pages of the tags of a chart: a registry may return fewer tags on one than requested. */
export const chartPagesMax = 500;

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Where a chart is. */
export interface ChartPlace {
  /** `charts/shop`. */
  readonly repository: string;
  /** A tag or a digest; undefined for the newest version. */
  readonly tag: string | undefined;
}

interface ChartRegistryOptions {
  /** Name of the account. */
  readonly name: string;
  /** The beginning of messages about the account. */
  readonly context: string;
  /** Address of the registry, with a slash at its end. */
  readonly baseUrl: URL;
  readonly credentials: RegistryCredentials;
  /** Tags on a page. */
  readonly pageSize: number;
  readonly downloader: Downloader;
  readonly parts: Pick<ProviderContext, 'clock' | 'log' | 'services' | 'environment' | 'placement'>;
}

/** A registry with charts. Its methods throw what `Downloader.download` throws. */
export interface ChartRegistry {
  /** The archive of a chart. Its digest is verified as it arrives. @throws InvalidInputError if there is something else in its place. */
  readChart(place: ChartPlace, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** The tags of a repository, newest first by semantic versioning. */
  listVersions(repository: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Opens the registry of an account. It connects on first use. */
export function openChartRegistry(options: ChartRegistryOptions): ChartRegistry {
  const caller = new RegistryCaller(options);
  const { baseUrl } = options;

  async function getNewestTag(repository: string, signal: AbortSignal): Promise<string> {
    const tags = await listTags(caller, { ...options, repository }, signal);
    const newest = findNewestVersion(tags.map(toVersion));
    if (newest !== undefined) return newest.replaceAll('+', '_');
    throw new InvalidInputError(`name: the repository of ${baseUrl.host} has no version`);
  }

  return {
    async readChart({ repository, tag }, signal) {
      const reference = tag ?? (await getNewestTag(repository, signal));
      const { chart: layer } = await readManifest(caller, { baseUrl, repository, reference }, signal);
      if (layer === undefined) {
        throw new InvalidInputError(`name: what ${baseUrl.host} has by it in this version is no Helm chart`);
      }
      const url = new URL(`v2/${repository}/blobs/${layer.digest}`, baseUrl);
      const { body } = await caller.open({ url, accept: '*/*', repository }, signal);
      return checkDigest(body, { host: baseUrl.host, ...layer });
    },
    listVersions: async (repository, signal) =>
      sortNewestFirst((await listTags(caller, { ...options, repository }, signal)).map(toVersion)),
  };
}

/** The version that Helm wrote as a tag, which may not contain a plus sign. */
function toVersion(tag: string): string {
  return tag.replaceAll('_', '+');
}

interface RegistryCall {
  readonly url: URL;
  readonly accept: string;
  readonly repository: string;
}

/** Calls a registry with the authentication that it asks for. */
class RegistryCaller {
  readonly #options: ChartRegistryOptions;
  readonly #credentials: BasicCredentials;
  readonly #authentication: Authentication;

  constructor(options: ChartRegistryOptions) {
    const { baseUrl, parts, name, credentials } = options;
    const registry = baseUrl.href.slice(baseUrl.protocol.length + 2, -1);
    this.#options = options;
    this.#credentials = createCredentials({ name, registry, baseUrl, credentials }, parts);
    this.#authentication = new Authentication({
      baseUrl,
      credentials: this.#credentials,
      clock: parts.clock,
      ask: (...request) => this.#askTokenServer(...request),
    });
  }

  /**
   * Calls the registry with the password, as in Clouddriver, and with a token if it then requires one.
   *
   * @throws like `Downloader.open`, and FailedOperationError if credentials are unavailable.
   */
  async open({ url, accept, repository }: RegistryCall, signal: AbortSignal): Promise<DownloadAnswer> {
    const { downloader } = this.#options;
    const scope = `repository:${repository}:pull`;
    const sent = await this.#authenticate(
      async () => (await this.#authentication.getHeader(scope, signal)) ?? (await this.#getBasic()),
    );
    const download = (authorization: string | undefined) =>
      downloader.open({ url, accept, credentials: authorization ? { authorization } : undefined }, signal);
    try {
      return await download(sent);
    } catch (error) {
      // A host that does not say how to authenticate is like any other: its answer is final.
      if (!(error instanceof CredentialsRefusedError) || error.challenge === '') throw error;
      const refused = { scope, origin: error.origin, header: error.challenge, sent };
      return download(await this.#authenticate(() => this.#authentication.replace(refused, signal)));
    }
  }

  /** Reads something from an answer. */
  async read(
    body: AsyncIterable<Uint8Array>,
    wanted: AnswerQuery['wanted'],
    signal: AbortSignal,
  ): Promise<RegistryFacts> {
    const { baseUrl, name: account, parts } = this.#options;
    const { host } = baseUrl;
    const query = { body: await gather(body, registryAnswerBytesMax, host), host, wanted };
    return readRegistryAnswer(query, { account, threads: findThreads(parts), signal });
  }

  async #getBasic(): Promise<string | undefined> {
    const pair = await this.#credentials.get();
    return pair === undefined ? undefined : `Basic ${pair}`;
  }

  /** Adds the account to errors about unavailable credentials. */
  async #authenticate<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const message = `${this.#options.context}: ${getErrorMessage(error)}`;
      if (error instanceof AccessDeniedError) throw new AccessDeniedError(message, { cause: error });
      if (error instanceof FailedOperationError) throw new FailedOperationError(message, { cause: error });
      throw error;
    }
  }

  async #askTokenServer(url: URL, authorization: string | undefined, signal: AbortSignal) {
    const { downloader } = this.#options;
    const credentials = authorization ? { authorization } : undefined;
    try {
      const body = await downloader.download({ url, accept: 'application/json', credentials }, signal);
      return {
        statusCode: 200,
        text: new TextDecoder().decode(await gather(body, smallAnswerBytesMax, url.host)),
      };
    } catch (error) {
      if (error instanceof CredentialsRefusedError) return { statusCode: 401, text: '' };
      throw error;
    }
  }
}

async function readManifest(
  caller: RegistryCaller,
  { baseUrl, repository, reference }: { baseUrl: URL; repository: string; reference: string },
  signal: AbortSignal,
): Promise<RegistryFacts> {
  const url = new URL(`v2/${repository}/manifests/${reference}`, baseUrl);
  const { body } = await caller.open({ url, accept: manifestTypes, repository }, signal);
  const { host } = baseUrl;
  const checked = isDigest(reference)
    ? checkDigest(body, { host, digest: reference, size: undefined })
    : body;
  return caller.read(checked, 'manifest', signal);
}

async function listTags(
  caller: RegistryCaller,
  { baseUrl, pageSize, repository }: { baseUrl: URL; pageSize: number; repository: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const tags = new Set<string>();
  const { host } = baseUrl;
  let url: URL | undefined = new URL(`v2/${repository}/tags/list?n=${pageSize}`, baseUrl);
  for (let pages = 0; url !== undefined; pages += 1) {
    if (pages >= chartPagesMax) {
      throw new FailedOperationError(`${host} answered more than ${chartPagesMax} pages of tags`);
    }
    const { body, getHeader } = await caller.open({ url, accept: 'application/json', repository }, signal);
    for (const tag of (await caller.read(body, { member: 'tags' }, signal)).names) {
      if (isTag(tag)) tags.add(tag);
    }
    if (tags.size > chartTagsMax) {
      throw new FailedOperationError(`${host} answered more than ${chartTagsMax} tags`);
    }
    url = findNextPage(getHeader('link') ?? '', url);
  }
  return [...tags];
}

async function gather(body: AsyncIterable<Uint8Array>, bytesMax: number, host: string): Promise<Uint8Array> {
  const bytes = await gatherBytes(body, bytesMax);
  if (bytes !== undefined) return bytes;
  throw new FailedOperationError(`${host} answered more than ${bytesMax} bytes`);
}

/** The expected body. */
interface ExpectedContent {
  /** The sender, for messages. */
  readonly host: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes; undefined if unknown. */
  readonly size: number | undefined;
}

/**
 * Passes on a body as it arrives, and verifies its digest on the way. The last piece is held back until then, so that no caller gets a
 * complete wrong body.
 *
 * @throws FailedOperationError, while iterating, if the body does not have the digest.
 */
async function* checkDigest(
  body: AsyncIterable<Uint8Array>,
  { host, digest, size = Number.POSITIVE_INFINITY }: ExpectedContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let received = 0;
  let held: Uint8Array | undefined;
  for await (const piece of body) {
    hash.update(piece);
    received += piece.byteLength;
    // It is already wrong: no more of it is needed.
    if (received > size) break;
    if (held !== undefined) yield held;
    held = piece;
  }
  if (`sha256:${hash.digest('hex')}` !== digest) {
    throw new FailedOperationError(`${host} answered something else than what has the digest`);
  }
  if (held !== undefined) yield held;
}
