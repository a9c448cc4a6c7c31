import type { AccountFreshness } from '#caching/scheduling/caching-agent-store.ts';
import { demandRefresh } from '#caching/scheduling/demand-refresh.ts';
import { createRecentFreshness, readRecentFreshness } from '#caching/scheduling/recent-freshness.ts';
import { touchAccounts } from '#caching/scheduling/touch-accounts.ts';
import { createConsistentCache, RequestReads } from '#caching/store/request-cache.ts';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import { viewAnswerMax, viewConcurrency } from '#core/request-limits.ts';
import { type ApiFunction, type ApiRequest, apiHandler } from '#http/api-handler.ts';
import { answerIfChanged, toTextTag } from '#http/entity-tag.ts';
import { parseError } from '#http/error-body.ts';
import type { Services } from '#platform/services/services.ts';
import { parseMaxAgeMs, toFreshnessHeaders } from '../freshness-headers.ts';
import { createViews, openReads, type ReadServices, type ViewServices } from '../services/views.ts';
import type { Viewed } from '../views.ts';
import { createSharedAnswers, type ViewAnswer } from './shared-answers.ts';

/** What an answer may depend on: some accounts, the accounts of some applications, everything in views, all images, or all inventories. */
export type ViewScope =
  | { readonly accounts: readonly string[] }
  | { readonly applications: readonly string[] }
  | 'everything'
  | 'images'
  | 'inventories';

/** How to read a view. */
export interface ViewHandlerOptions {
  /**
   * What the answer may depend on. Default: the `{account}` of the path, else its `{application}`, else everything. Unless it is
   * everything, its cache counts as used: it is kept fresher than unused ones.
   */
  readonly scope?: (request: ApiRequest) => ViewScope;
  /** Whether the views also hold accounts that the caller may not read: then the function hides theirs. Default: no. */
  readonly isUnrestricted?: (request: ApiRequest) => boolean;
  /** Opens what the function uses. Default: the cache, and the providers in force. */
  readonly open?: (services: Services) => Promise<ReadServices>;
}

/** Reads a view. Throws NotFoundError, in plain words, for what does not exist. */
export type ViewRead = (request: ApiRequest, services: ViewServices) => Promise<Viewed<unknown>>;

/** Milliseconds that a request waits for caches to be as fresh as it demands: the rest of its 20 seconds is for reading. */
const refreshWaitMs = 12_000;

/** What a request is answered from, as far as its caller may read it. */
interface ReadableServices extends ReadServices {
  mayRead(account: string): boolean;
}

/** The freshness of accounts. */
type Freshness = ReadonlyMap<string, AccountFreshness>;

/**
 * Makes a Lambda function that answers from the cache what the caller may read, with the answer's age: see `toFreshnessHeaders`.
 * NotFoundErrors have it, too. No answer fails because its age is unknown. A caller that has the answer already gets 304: see
 * `answerIfChanged`.
 *
 * A request may demand fresh data by `Cache-Control: max-age=30`: older data is refreshed first. Where that takes longer than 12 seconds,
 * it gets the data as it is, with its age.
 *
 * Equal reads of a path's `{application}` share one answer: see {@link SharedAnswers}. So such a read may only depend on path, query and
 * views.
 */
export function viewHandler(read: ViewRead, options: ViewHandlerOptions = {}): ApiFunction {
  const { scope = toPathScope, open = openReads, isUnrestricted = () => false } = options;
  return apiHandler(open, async (request, opened) => {
    const mayRead = isUnrestricted(request) ? () => true : await request.access.openAccountFilter();
    const services = { ...opened, mayRead };
    const wanted = scope(request);
    const reads = new RequestReads(services.cache);
    const { cache } = reads;
    const scoped = listScopedAccounts(wanted, { ...services, cache });
    // Awaited last: a Lambda function may be frozen after its answer.
    const noted = typeof wanted === 'string' ? undefined : touchScopedAccounts(scoped, services);
    const maxAgeMs = parseMaxAgeMs(request.findHeader('cache-control'));
    const demanded =
      maxAgeMs === undefined ? undefined : await refresh(services, { request, scoped, wanted, maxAgeMs });
    const consistent = demanded && createConsistentCache(services.cache);
    const isShared = scope === toPathScope && isOfApplication(request) && demanded === undefined;
    const make = async (shown: (account: string) => boolean) =>
      readAnswer(
        request,
        await createViews({ ...services, cache: consistent ?? cache, mayRead: shown }),
        read,
      );
    const share = async () => {
      const accounts = await scoped;
      const shown = new Set(accounts);
      return services.all.get(createSharedAnswers).get(JSON.stringify([request.getTarget(), accounts]), {
        ...{ providers: services.providers, remembered: services.remembered, reads },
        make: () => make((account) => shown.has(account)),
      });
    };
    const [answer, freshness] = await Promise.all([
      isShared ? share() : make(mayRead),
      demanded ?? readFreshness(scoped, services),
    ]);
    const headers = toFreshnessHeaders(
      freshness,
      answer.accounts ?? [...freshness.keys()],
      services.clock.now(),
    );
    await noted;
    return answerIfChanged(request, { ...answer.response, headers }, answer.tag);
  });
}

/** Whether a read is of one application, and its result is shown to all callers that may read its accounts. */
function isOfApplication({ access, findParameter }: ApiRequest): boolean {
  const isOfAccount = findParameter('account') !== undefined;
  return !isOfAccount && findParameter('application') !== undefined && !access.rules.resultApplication;
}

/** The result, or that it was not found: that, too, is as old as the cache. */
async function readAnswer(request: ApiRequest, services: ViewServices, read: ViewRead): Promise<ViewAnswer> {
  try {
    const { value, accounts } = await read(request, services);
    request.access.checkResult(value);
    return { ...toViewResponse(200, writeAnswer(value)), accounts };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const body = parseError(error, services.clock.now());
    return { ...toViewResponse(body.status, JSON.stringify(body)), accounts: undefined };
  }
}

function toViewResponse(status: number, body: string): Pick<ViewAnswer, 'response' | 'tag'> {
  return { response: { status, body }, tag: toTextTag(body) };
}

/** @throws InvalidInputError for an answer that is too large, with what to ask instead. */
function writeAnswer(value: unknown): string {
  const body = JSON.stringify(value);
  if (body.length <= viewAnswerMax) return body;
  throw new InvalidInputError(
    `The answer has ${body.length} characters: at most ${viewAnswerMax} are sent; ask for less at once, by naming an account, ` +
      'a namespace, or fewer applications or clusters',
  );
}

function toPathScope(request: ApiRequest): ViewScope {
  const account = request.findParameter('account');
  if (account !== undefined) return { accounts: [account] };
  const application = request.findParameter('application');
  return application === undefined ? 'everything' : { applications: [application] };
}

/** The configured accounts in a scope, as far as the caller may read them. */
async function listScopedAccounts(
  scope: ViewScope,
  { providers, cache, mayRead }: Pick<ReadableServices, 'providers' | 'cache' | 'mayRead'>,
): Promise<readonly string[]> {
  if (typeof scope === 'string') {
    const owners = providers.clouds.filter(
      (cloud) => cloud[scope === 'everything' ? 'openViews' : scope] !== undefined,
    );
    return owners.flatMap(({ accounts }) => accounts.map(({ name }) => name)).filter(mayRead);
  }
  const named = 'accounts' in scope ? scope.accounts : await listAccountsOf(scope.applications, cache);
  return [...new Set(named)].filter(
    (account) => providers.findAccount(account) !== undefined && mayRead(account),
  );
}

async function listAccountsOf(
  applications: readonly string[],
  cache: Pick<ReadServices['cache'], 'listAccounts'>,
): Promise<readonly string[]> {
  const limit = createConcurrencyLimit(viewConcurrency);
  const names = [...new Set(applications)];
  const entries = await Promise.all(names.map((name) => limit(() => cache.listAccounts(name))));
  return entries.flat().map(({ account }) => account);
}

async function touchScopedAccounts(
  scoped: Promise<readonly string[]>,
  services: ReadServices,
): Promise<void> {
  // Where the accounts cannot be listed the read fails, too, and says why.
  await touchAccounts(services, await scoped.catch(() => []));
}

/** The freshness of accounts; empty when it cannot be read. */
async function readFreshness(
  scoped: Promise<readonly string[]>,
  { all, agents, clock, log }: ReadServices,
): Promise<Freshness> {
  try {
    const recent = all.get(createRecentFreshness);
    return await readRecentFreshness({ agents, clock, recent }, await scoped);
  } catch (error) {
    log.warn('the age of an answer cannot be told', { error });
    return new Map();
  }
}

/** What a request demands. */
interface Demand {
  readonly request: ApiRequest;
  readonly scoped: Promise<readonly string[]>;
  readonly wanted: ViewScope;
  readonly maxAgeMs: number;
}

/** Refreshes what is older than demanded, an unknown application in any account. @returns the freshness; empty when unreadable */
async function refresh(
  services: ReadableServices,
  { request, scoped, wanted, maxAgeMs }: Demand,
): Promise<Freshness> {
  const { clock, log } = services;
  const deadlineMs = clock.monotonic() + refreshWaitMs;
  try {
    const known = await scoped;
    const isNowhere = known.length === 0 && typeof wanted !== 'string' && 'applications' in wanted;
    const accounts = isNowhere ? await listScopedAccounts('everything', services) : known;
    return await demandRefresh(services, accounts, { maxAgeMs, deadlineMs, signal: request.signal });
  } catch (error) {
    log.warn('what a request demands cannot be refreshed', { error });
    return new Map();
  }
}
