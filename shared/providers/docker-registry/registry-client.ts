import { createHash } from 'node:crypto';
import { FailedOperationError } from '#core/errors.ts';
import type { AnswerQuery, RegistryFacts } from '#oci/answer-job.ts';
import { readRegistryAnswer } from '#oci/answers.ts';
import { findNextPage } from '#oci/challenge.ts';
import { isDigest, isRepositoryName, isTag } from '#oci/names.ts';
import { threadsOfProcess } from '#threads/thread-pool.ts';
import type { RegistryAccount } from './account.ts';
import { labelBytesMax, pagesMax, repositoriesMax, tagsMax } from './limits.ts';
import type { RegistryAnswer, RegistryRequest } from './registry-sender.ts';

/** Manifests and indexes, of OCI and of Docker. */
const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

/** An image's own details. */
interface ImageDetails {
  /** When it was created, according to itself; undefined if it does not say. */
  readonly created?: string | undefined;
  readonly labels: { readonly [name: string]: string };
}

/** A request for something in content that is stored by its digest. */
interface StoredContent {
  readonly digest: string;
  readonly accept: string;
  readonly wanted: AnswerQuery['wanted'];
  readonly signal: AbortSignal;
}

/** A list in pages. */
interface ListRequest {
  readonly path: string;
  /** Member of a page with the names. */
  readonly member: string;
  readonly scope: string;
  readonly namesMax: number;
  readonly signal: AbortSignal;
}

/**
 * Calls a registry by the OCI Distribution Specification, which is Docker's version 2. If the registry's answer is wrong, all methods throw
 * FailedOperationError, whose message names only the host of a URL; they also throw the signal's reason.
 */
export class RegistryClient {
  readonly #account: Pick<RegistryAccount, 'name' | 'baseUrl' | 'pageSize'>;
  readonly #send: (request: RegistryRequest) => Promise<RegistryAnswer>;

  /** @param send sends a request of the account, and throws if there is no answer. */
  constructor(account: RegistryAccount, send: (request: RegistryRequest) => Promise<RegistryAnswer>) {
    this.#account = account;
    this.#send = send;
  }

  /** The names of all repositories, each once. */
  async listRepositories(signal: AbortSignal): Promise<readonly string[]> {
    const list = { path: '_catalog', member: 'repositories', scope: 'registry:catalog:*', signal };
    const names = await this.#list({ ...list, namesMax: repositoriesMax });
    if (names === undefined) {
      throw new FailedOperationError(
        'No repositories specified for the account, and the provided endpoint does not support /_catalog.',
      );
    }
    return names.filter((name) => isRepositoryName(name));
  }

  /** The tags of a repository, each once, in the registry's order; undefined if there is no such repository. */
  async listTags(repository: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const list = { path: `${repository}/tags/list`, member: 'tags', scope: toScope(repository), signal };
    const names = await this.#list({ ...list, namesMax: tagsMax });
    return names?.filter((name) => isTag(name));
  }

  /** The digest that a tag refers to; undefined if there is no such tag. */
  async findDigest(repository: string, tag: string, signal: AbortSignal): Promise<string | undefined> {
    const request = { ...this.#toRequest(repository, `manifests/${tag}`, signal), accept: manifestTypes };
    const head = await this.#send({ ...request, method: 'HEAD' });
    if (head.statusCode === 404) return undefined;
    checkStatus(head);
    const told = head.getHeader('docker-content-digest');
    if (isDigest(told)) return told;
    const whole = await this.#send(request);
    checkStatus(whole);
    return toDigest(whole.body);
  }

  /** The details of a digest's image; none for anything but an image, such as a chart. */
  async getImageDetails(repository: string, digest: string, signal: AbortSignal): Promise<ImageDetails> {
    const manifest = await this.#getManifest(repository, digest, signal);
    const { platform } = manifest;
    const { config } =
      platform === undefined ? manifest : await this.#getManifest(repository, platform, signal);
    if (config === undefined) return { labels: {} };
    const { created, labels } = await this.#getContent(repository, `blobs/${config}`, {
      ...{ digest: config, accept: '*/*', signal },
      wanted: { labelBytesMax },
    });
    return { labels, ...(created !== undefined && { created }) };
  }

  #getManifest(repository: string, digest: string, signal: AbortSignal): Promise<RegistryFacts> {
    const content = { digest, accept: manifestTypes, signal, wanted: 'manifest' } as const;
    return this.#getContent(repository, `manifests/${digest}`, content);
  }

  /** Content that is stored by its digest, which is verified. */
  async #getContent(
    repository: string,
    path: string,
    { digest, accept, signal, wanted }: StoredContent,
  ): Promise<RegistryFacts> {
    const request = { ...this.#toRequest(repository, path, signal), accept };
    const answer = await this.#send(request);
    checkStatus(answer);
    if (toDigest(answer.body) !== digest) {
      throw new FailedOperationError(`${request.url.host} answered something else than what has the digest`);
    }
    return this.#read(answer, wanted, signal);
  }

  #read(
    { body, url }: RegistryAnswer,
    wanted: AnswerQuery['wanted'],
    signal: AbortSignal,
  ): Promise<RegistryFacts> {
    const { name: account } = this.#account;
    return readRegistryAnswer(
      { body, host: url.host, wanted },
      { account, threads: threadsOfProcess, signal },
    );
  }

  #toRequest(repository: string, path: string, signal: AbortSignal): Omit<RegistryRequest, 'accept'> {
    const url = new URL(`v2/${repository}/${path}`, this.#account.baseUrl);
    return { url, scope: toScope(repository), signal };
  }

  /** The names of all pages; undefined if the first one is 404. */
  async #list(list: ListRequest): Promise<readonly string[] | undefined> {
    const { path, member, scope, namesMax, signal } = list;
    const { baseUrl, pageSize } = this.#account;
    const names = new Set<string>();
    let url: URL | undefined = new URL(`v2/${path}?n=${pageSize}`, baseUrl);
    for (let pages = 0; url !== undefined; pages += 1) {
      const { host }: URL = url;
      const answer = await this.#send({ url, accept: 'application/json', scope, signal });
      if (answer.statusCode === 404 && pages === 0) return undefined;
      checkStatus(answer);
      for (const name of (await this.#read(answer, { member }, signal)).names) names.add(name);
      if (names.size > namesMax)
        throw new FailedOperationError(`${host} answered more than ${namesMax} ${member}`);
      if (pages >= pagesMax) throw new FailedOperationError(`${host} answered more than ${pagesMax} pages`);
      url = findNextPage(answer.getHeader('link'), url);
    }
    return [...names];
  }
}

function toScope(repository: string): string {
  return `repository:${repository}:pull`;
}

function toDigest(body: Uint8Array): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

function checkStatus({ statusCode, url }: RegistryAnswer): void {
  if (statusCode !== 200) throw new FailedOperationError(`${url.host} answered ${statusCode}`);
}
