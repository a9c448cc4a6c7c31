import type { AccountFreshness } from '../../core/agents/agent-store.ts';
import { demandRefresh } from '../../core/agents/demand-refresh.ts';
import { noteUse } from '../../core/agents/note-use.ts';
import { createConsistentCache, createRequestCache } from '../../core/cache/request-cache.ts';
import { createConcurrencyLimit } from '../../core/concurrency.ts';
import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import { viewAnswerMax, viewConcurrency } from '../../core/request-limits.ts';
import { parseMaxAgeMs, toFreshnessHeaders } from '../../core/views/freshness-headers.ts';
import type { Viewed } from '../../core/views/views.ts';
import {
  createViewContext,
  openReadContext,
  type ReadContext,
  type ViewContext,
} from '../context/view-context.ts';
import { type ApiFunction, type ApiRequest, type ApiResponse, apiHandler } from './api-handler.ts';
import { parseError } from './error-body.ts';

/** What an answer may depend on: some accounts, the accounts in which some applications are, or everything there is. */
export type ViewScope =
  | { readonly accounts: readonly string[] }
  | { readonly applications: readonly string[] }
  | 'everything';

/** How a view is read. */
export interface ViewHandlerOptions {
  /**
   * What the answer may depend on. Default: the `{account}` of the path; without one its `{application}`; without that
   * everything. The cache of what is not everything counts as used: it is kept fresher than that of what nobody asks for.
   */
  readonly scope?: (request: ApiRequest) => ViewScope;
  /**
   * Whether the views hold accounts, too, that the caller may not read: then the function hides what is theirs. Default: they do
   * not.
   */
  readonly isUnrestricted?: (request: ApiRequest) => boolean;
  /** Opens what functions work with. Default: the context of this process. */
  readonly open?: () => Promise<ReadContext>;
}

/** Reads a view. Throws NotFoundError, with words for people, for what is not there. */
export type ViewRead = (request: ApiRequest, context: ViewContext) => Promise<Viewed<unknown>>;

/** Milliseconds that a request waits for caches to be as fresh as it demands: the rest of its 20 seconds is for reading. */
const refreshWaitMs = 12_000;

/** What a request is answered from, as far as its caller may read it. */
interface ReadableContext extends ReadContext {
  mayRead(account: string): boolean;
}

/** How fresh accounts are. */
type Freshness = ReadonlyMap<string, AccountFreshness>;

/**
 * Makes a Lambda function that answers out of the cache what the caller may read, and tells how old the answer is: see
 * `toFreshnessHeaders`. That holds for
 * what was not found, too. No answer fails because its age cannot be told.
 *
 * A request may demand fresh data by `Cache-Control: max-age=30`: what is older is refreshed first. Where that takes longer than 12
 * seconds, it gets what there is: its age tells.
 */
export function viewHandler(read: ViewRead, options: ViewHandlerOptions = {}): ApiFunction {
  const { scope = toPathScope, open = openReadContext, isUnrestricted = () => false } = options;
  return apiHandler(open, async (request, opened) => {
    const { rights } = request.access;
    const isAll = isUnrestricted(request);
    const mayRead = (account: string): boolean => isAll || rights.mayUseAccount(account, 'READ');
    const context = { ...opened, mayRead };
    const wanted = scope(request);
    const cache = createRequestCache(context.cache);
    const scoped = listScopedAccounts(wanted, { ...context, cache });
    // Awaited last: a Lambda function that has answered may be stopped before it ends.
    const noted = wanted === 'everything' ? undefined : noteUseOf(scoped, context);
    const maxAgeMs = parseMaxAgeMs(request.findHeader('cache-control'));
    const demanded =
      maxAgeMs === undefined ? undefined : await refresh(context, { request, scoped, wanted, maxAgeMs });
    const consistent = demanded && createConsistentCache(context.cache);
    const [answer, freshness] = await Promise.all([
      readAnswer(request, await createViewContext({ ...context, cache: consistent ?? cache }), read),
      demanded ?? readFreshness(scoped, context),
    ]);
    const headers = toFreshnessHeaders(
      freshness,
      answer.accounts ?? [...freshness.keys()],
      context.clock.now(),
    );
    await noted;
    return { ...answer.response, headers };
  });
}

/** A response, and the accounts it depends on; undefined where nobody tells: then it is all that it might have. */
interface ViewAnswer {
  readonly response: ApiResponse;
  readonly accounts: readonly string[] | undefined;
}

/** What was read, or that it was not found: that, too, is as old as the cache. */
async function readAnswer(request: ApiRequest, context: ViewContext, read: ViewRead): Promise<ViewAnswer> {
  try {
    const { value, accounts } = await read(request, context);
    request.access.checkResult(value);
    return { response: { status: 200, body: writeAnswer(value) }, accounts };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const body = parseError(error, context.clock.now());
    return { response: { status: body.status, body: JSON.stringify(body) }, accounts: undefined };
  }
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
  { providers, cache, mayRead }: Pick<ReadableContext, 'providers' | 'cache' | 'mayRead'>,
): Promise<readonly string[]> {
  if (scope === 'everything') return providers.accounts.map(({ name }) => name).filter(mayRead);
  const named = 'accounts' in scope ? scope.accounts : await listAccountsOf(scope.applications, cache);
  return [...new Set(named)].filter(
    (account) => providers.findAccount(account) !== undefined && mayRead(account),
  );
}

async function listAccountsOf(
  applications: readonly string[],
  cache: Pick<ReadContext['cache'], 'listAccounts'>,
): Promise<readonly string[]> {
  const limit = createConcurrencyLimit(viewConcurrency);
  const names = [...new Set(applications)];
  const entries = await Promise.all(names.map((name) => limit(() => cache.listAccounts(name))));
  return entries.flat().map(({ account }) => account);
}

async function noteUseOf(scoped: Promise<readonly string[]>, context: ReadContext): Promise<void> {
  // Where the accounts cannot be listed nothing can be read, either: the read tells why.
  await noteUse(context, await scoped.catch(() => []));
}

/** How fresh accounts are; of none when that cannot be read. */
async function readFreshness(
  scoped: Promise<readonly string[]>,
  { agents, log }: ReadContext,
): Promise<Freshness> {
  try {
    return await agents.readFreshness(await scoped);
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

/**
 * Has refreshed what is older than demanded. An application that is nowhere may have come to be anywhere since.
 *
 * @returns how fresh it is then; of none when that cannot be read.
 */
async function refresh(
  context: ReadableContext,
  { request, scoped, wanted, maxAgeMs }: Demand,
): Promise<Freshness> {
  const { clock, log } = context;
  const deadlineMs = clock.monotonic() + refreshWaitMs;
  try {
    const known = await scoped;
    const isNowhere = known.length === 0 && wanted !== 'everything' && 'applications' in wanted;
    const accounts = isNowhere ? await listScopedAccounts('everything', context) : known;
    return await demandRefresh(context, accounts, { maxAgeMs, deadlineMs, signal: request.signal });
  } catch (error) {
    log.warn('what a request demands cannot be refreshed', { error });
    return new Map();
  }
}
