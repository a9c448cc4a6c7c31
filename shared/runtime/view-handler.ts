import type { AccountFreshness } from '../core/cache/agent-store.ts';
import { NotFoundError } from '../core/errors.ts';
import { type FreshnessHeaders, toFreshnessHeaders } from '../core/freshness-headers.ts';
import type { Viewed } from '../core/views.ts';
import { type ApiFunction, type ApiRequest, type ApiResponse, apiHandler } from './api-handler.ts';
import { parseError } from './error-body.ts';
import { openViewContext, type ViewContext } from './view-context.ts';

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
  /** Opens what a request works with. Default: the context of this process. */
  readonly open?: () => Promise<ViewContext>;
}

/** Reads a view. Throws NotFoundError, with words for people, for what is not there. */
export type ViewRead = (request: ApiRequest, context: ViewContext) => Promise<Viewed<unknown>>;

/**
 * Makes a Lambda function that answers out of the cache, and tells how old the answer is: see `toFreshnessHeaders`. That holds for
 * what was not found, too. No answer fails because its age cannot be told.
 */
export function viewHandler(read: ViewRead, options: ViewHandlerOptions = {}): ApiFunction {
  const { scope = toPathScope, open = openViewContext } = options;
  return apiHandler(open, async (request, context) => {
    const scoped = listScopedAccounts(scope(request), context);
    const [answer, freshness] = await Promise.all([
      readAnswer(() => read(request, context), context),
      readFreshness(scoped, context),
    ]);
    const accounts = answer.accounts ?? (await scoped);
    return { ...answer.response, headers: toHeaders(freshness, accounts, context) };
  });
}

/** A response, and the accounts it depends on; undefined where that is not known better than by the request. */
interface ViewAnswer {
  readonly response: ApiResponse;
  readonly accounts: readonly string[] | undefined;
}

/** What was read, or that it was not found: that, too, is as old as the cache. */
async function readAnswer(read: () => Promise<Viewed<unknown>>, { clock }: ViewContext): Promise<ViewAnswer> {
  try {
    const { value, accounts } = await read();
    return { response: { status: 200, body: JSON.stringify(value) }, accounts };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const body = parseError(error, clock.now());
    return { response: { status: body.status, body: JSON.stringify(body) }, accounts: undefined };
  }
}

function toPathScope(request: ApiRequest): ViewScope {
  const account = request.findParameter('account');
  if (account !== undefined) return { accounts: [account] };
  const application = request.findParameter('application');
  return application === undefined ? 'everything' : { applications: [application] };
}

/** The configured accounts in a scope. */
async function listScopedAccounts(
  scope: ViewScope,
  { providers, cache }: ViewContext,
): Promise<readonly string[]> {
  if (scope === 'everything') return providers.accounts.map(({ name }) => name);
  const named =
    'accounts' in scope
      ? scope.accounts
      : (await Promise.all(scope.applications.map((application) => cache.listAccounts(application))))
          .flat()
          .map(({ account }) => account);
  return [...new Set(named)].filter((account) => providers.findAccount(account) !== undefined);
}

/** How fresh accounts are; of none when that cannot be read. */
async function readFreshness(
  accounts: Promise<readonly string[]>,
  { agents, log }: ViewContext,
): Promise<ReadonlyMap<string, AccountFreshness>> {
  try {
    return await agents.readFreshness(await accounts);
  } catch (error) {
    log.warn('the age of an answer cannot be told', { error });
    return new Map();
  }
}

function toHeaders(
  freshness: ReadonlyMap<string, AccountFreshness>,
  accounts: readonly string[],
  { clock }: ViewContext,
): FreshnessHeaders {
  return toFreshnessHeaders(freshness, accounts, clock.now());
}
