import { retry } from '#core/back-off.ts';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, type JsonObject } from '#core/json.ts';
import { isDigest, isRepositoryName, isTag } from '#oci/names.ts';
import { type Aws, CallError } from '#platform/ports/aws.ts';
import { toAwsFailure } from '#platform/ports/aws-failure.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { RequestBudget } from '#provider-kit/request-budget.ts';
import type { CachedTag, TagListing } from './cached-tags.ts';
import type { EcrRegistry } from './ecr-account.ts';
import {
  ecrAnswerBytesMax,
  ecrTriesMax,
  pagesMax,
  repositoriesMax,
  requestsPerSecond,
  tagsMax,
} from './limits.ts';

const backOff = { firstMs: 500, fixedShare: 0.5 };

/** Entries of a page: ECR's limit. */
const pageSize = 1_000;

/** AWS' codes for a session that has ended, or was ended. */
const endedSession = /^(ExpiredToken(Exception)?|UnrecognizedClientException|InvalidClientTokenId)$/;

/** A token for the registry itself, as user and password. */
export interface EcrToken {
  /** `user:password` in base64, as `Authorization: Basic` has it. */
  readonly basic: string;
  /** When it expires at the latest, wall time in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

interface EcrClientOptions extends Pick<ProviderContext, 'clock' | 'randomness' | 'services'> {
  readonly registry: EcrRegistry;
  /** Multiple of the usual pace. */
  readonly threads: number;
}

interface EcrCall {
  readonly action: 'GetAuthorizationToken' | 'DescribeRepositories' | 'DescribeImages';
  readonly input?: JsonObject;
  readonly signal: AbortSignal;
}

/** A list that ECR answers in pages. */
interface EcrList<T> extends EcrCall {
  /** The member of an answer that has the entries. */
  readonly entries: string;
  readonly what: string;
  readonly itemsMax: number;
  readonly read: (entry: JsonObject) => T | undefined;
}

/**
 * Lists a registry by ECR's API, at the account's pace: a page has up to a thousand images with their tags, digests and push dates, so that
 * no manifest is requested. Calls go over the wire protocol, since a client of the SDK would be larger than all of this.
 */
export class EcrClient implements TagListing {
  readonly #options: EcrClientOptions;
  readonly #budget: RequestBudget;

  constructor(options: EcrClientOptions) {
    this.#options = options;
    const qps = requestsPerSecond * options.threads;
    this.#budget = new RequestBudget({ qps, burst: qps }, options.clock);
  }

  async listRepositories(signal: AbortSignal): Promise<readonly string[]> {
    const names = await this.#list({
      ...{ action: 'DescribeRepositories', signal },
      ...{ entries: 'repositories', what: 'repositories', itemsMax: repositoriesMax },
      read: ({ repositoryName }) => asString(repositoryName),
    });
    return [...new Set(names)].filter((name) => isRepositoryName(name));
  }

  async listTags(repository: string, signal: AbortSignal): Promise<readonly CachedTag[] | undefined> {
    const tags = new Map<string, CachedTag>();
    const images = await this.#list({
      ...{ action: 'DescribeImages', signal },
      input: { repositoryName: repository, filter: { tagStatus: 'TAGGED' } },
      ...{ entries: 'imageDetails', what: 'images', itemsMax: tagsMax },
      read: readImage,
    }).catch((error: unknown) => {
      const { cause } = error instanceof Error ? error : {};
      if (cause instanceof CallError && cause.name === 'RepositoryNotFoundException') return undefined;
      throw error;
    });
    for (const { names, known } of images ?? []) {
      for (const name of names) if (isTag(name)) tags.set(name, { name, ...known });
    }
    if (tags.size > tagsMax) throw tooMany(`${tagsMax} tags`);
    return images && [...tags.values()];
  }

  /** The user and password that the registry itself accepts. */
  async getAuthorizationToken(signal: AbortSignal): Promise<EcrToken> {
    const answer = await this.#call({ action: 'GetAuthorizationToken', signal });
    const data = asJsonObject(asJsonArray(answer['authorizationData'])[0]);
    const basic = asString(data?.['authorizationToken']) ?? '';
    const expiresAtMs = toMs(data?.['expiresAt']);
    if (/^[\w+/]+=*$/.test(basic) && expiresAtMs !== undefined) return { basic, expiresAtMs };
    throw new FailedOperationError(`ECR in ${this.#options.registry.region} answered no token`);
  }

  /** The items of all pages. */
  async #list<T>({ entries, what, itemsMax, read, ...call }: EcrList<T>): Promise<readonly T[]> {
    const { registryId } = this.#options.registry;
    const items: T[] = [];
    let token: JsonObject = {};
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const input = { registryId, maxResults: pageSize, ...token, ...call.input };
      const answer = await this.#call({ ...call, input });
      const found = asJsonArray(answer[entries]).map((entry) => read(asJsonObject(entry) ?? {}));
      items.push(...found.filter((item) => item !== undefined));
      if (items.length > itemsMax) throw tooMany(`${itemsMax} ${what}`);
      const nextToken = asString(answer['nextToken']);
      if (!nextToken) return items;
      token = { nextToken };
    }
    throw tooMany(`${pagesMax} pages of ${what}`);
  }

  /** Makes a call when its turn comes, and retries while ECR is busy. @throws FailedOperationError that says what to do */
  async #call(call: EcrCall): Promise<JsonObject> {
    const { services, registry, clock, randomness } = this.#options;
    const { signal } = call;
    const openAws = services?.openAws;
    if (openAws === undefined) throw new FailedOperationError('there is no way to ask ECR from here');
    try {
      const retries = { backOff, triesMax: ecrTriesMax, clock, randomness, signal, isRetryable: isBusy };
      return await retry(retries, async () => {
        await this.#budget.take(signal);
        return send(await openAws(), registry, call);
      });
    } catch (cause) {
      signal.throwIfAborted();
      throw new FailedOperationError(describeFailure(cause, registry, call), { cause });
    }
  }
}

/** Makes a call once, and again as a new session of the role where the old one has ended. */
async function send(
  aws: Aws,
  { region, roleArn, externalId }: EcrRegistry,
  { action, input = {}, signal }: EcrCall,
): Promise<JsonObject> {
  const getCredentials = aws.credentials({ region, roleArn, externalId });
  const target = `AmazonEC2ContainerRegistry_V20150921.${action}`;
  const limits = { bytesMax: ecrAnswerBytesMax, repeatsReason: true, signal };
  const attempt = async (forceRefresh: boolean) => {
    const credentials = await getCredentials({ forceRefresh });
    return aws.call({ service: 'ecr', target, input, ...limits }, { region, credentials });
  };
  return attempt(false).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!(error instanceof CallError) || !endedSession.test(error.name)) throw error;
    return attempt(true);
  });
}

function describeFailure(
  error: unknown,
  { registryId, region, roleArn }: EcrRegistry,
  { action }: EcrCall,
): string {
  const as = roleArn === undefined ? '' : ` as ${roleArn}`;
  // `fetch` hides why the connection failed.
  const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  return toAwsFailure(cause, {
    what: `cannot ask the ECR registry ${registryId} in ${region}${as}`,
    whenDenied: `allow ecr:${action} on its repositories to this identity`,
  }).message;
}

/** Whether ECR may answer the same call later: it throttles or is unavailable. A failed connection has no code from AWS. */
function isBusy(error: unknown): boolean {
  if (error instanceof CallError) return error.isPassing;
  return error instanceof Error && (error.name === 'TimeoutError' || error instanceof TypeError);
}

/** An image's tags, and what is known of each. */
function readImage({ imageDigest, imageTags, imagePushedAt }: JsonObject) {
  const digest = asString(imageDigest);
  if (digest === undefined) return undefined;
  const pushedAtMs = toMs(imagePushedAt);
  return {
    names: asJsonArray(imageTags).filter((tag) => typeof tag === 'string'),
    known: {
      ...(isDigest(digest) && { digest }),
      ...(pushedAtMs !== undefined && { created: new Date(pushedAtMs).toISOString() }),
    },
  };
}

/** Times of AWS' JSON protocol are seconds since the epoch, with fractions. */
function toMs(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number') return undefined;
  const ms = Math.round(seconds * 1000);
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms;
}

function tooMany(what: string): FailedOperationError {
  return new FailedOperationError(`ECR answered more than ${what}`);
}
