import type { AccountFreshness } from '#caching/scheduling/caching-agent-store.ts';
import { cacheControlMax } from '#core/request-limits.ts';
import { compareText } from '#core/text-order.ts';

/** What the headers say of an account. */
type Freshness = Pick<AccountFreshness, 'asOfMs' | 'isStale' | 'tooLarge'>;

/** Characters of a list of accounts in a header, at most. */
const listLengthMax = 1_000;

/** A response's headers by name. */
export interface FreshnessHeaders {
  readonly [name: string]: string;
}

interface AccountLag extends Freshness {
  readonly account: string;
}

/**
 * The headers for the age of an answer that depends on these accounts:
 *
 * - `Age`: whole seconds, and `X-Busdriver-As-Of`: the time, both of the account that is furthest behind.
 * - `X-Busdriver-Lag`: `prod=3, dev=stale, new=unknown`. Seconds; `stale` where the account's cache may be further behind than its age
 *   says, `unknown` where it was not filled yet. The worst come first; where there are too many, `*` stands for each account left out, with
 *   the most that one of them is behind.
 *
 * - `X-Busdriver-Too-Large`: `prod=2`, where objects or applications of accounts are missing because they are too large to be cached: their
 *   number, the highest first; `*` as above.
 *
 * Accounts of which nothing is known are left out; without any others there are no headers.
 */
export function toFreshnessHeaders(
  freshness: ReadonlyMap<string, Freshness>,
  accounts: readonly string[],
  nowMs: number,
): FreshnessHeaders {
  const lags = [...new Set(accounts)]
    .map((account) => ({ account, ...freshness.get(account) }))
    .filter((lag): lag is AccountLag => lag.isStale !== undefined)
    .sort(compareLags);
  if (lags.length === 0) return {};
  const times = lags.map(({ asOfMs }) => asOfMs).filter((asOfMs) => asOfMs !== undefined);
  // There may be too many accounts to be arguments of a call.
  const oldestMs = times.reduce((oldest, asOfMs) => Math.min(oldest, asOfMs), Number.POSITIVE_INFINITY);
  return {
    ...(times.length > 0 && {
      Age: String(toSeconds(oldestMs, nowMs)),
      'X-Busdriver-As-Of': new Date(oldestMs).toISOString(),
    }),
    'X-Busdriver-Lag': formatByAccount(lags, (lag) => formatLag(lag, nowMs)),
    ...toTooLargeHeader(lags),
  };
}

function toTooLargeHeader(lags: readonly AccountLag[]): FreshnessHeaders {
  const found = lags
    .filter(({ tooLarge }) => tooLarge > 0)
    .sort((one, other) => other.tooLarge - one.tooLarge);
  if (found.length === 0) return {};
  return { 'X-Busdriver-Too-Large': formatByAccount(found, ({ tooLarge }) => String(tooLarge)) };
}

/** Unknown ones, then stale ones, then the others; each group with the oldest first. */
function compareLags(one: AccountLag, other: AccountLag): number {
  return (
    getRank(one) - getRank(other) ||
    (one.asOfMs ?? 0) - (other.asOfMs ?? 0) ||
    compareText(one.account, other.account)
  );
}

function getRank({ asOfMs, isStale }: AccountLag): number {
  if (asOfMs === undefined) return 0;
  return isStale ? 1 : 2;
}

function formatByAccount(lags: readonly AccountLag[], format: (lag: AccountLag) => string): string {
  let text = '';
  for (const lag of lags) {
    const part = `${text === '' ? '' : ', '}${encodeURIComponent(lag.account.toWellFormed())}=${format(lag)}`;
    if (text.length + part.length > listLengthMax) return `${text}, *=${format(lag)}`;
    text += part;
  }
  return text;
}

function formatLag({ asOfMs, isStale }: AccountLag, nowMs: number): string {
  if (asOfMs === undefined) return 'unknown';
  return isStale ? 'stale' : String(toSeconds(asOfMs, nowMs));
}

/** Clocks differ: nothing is younger than now. */
function toSeconds(asOfMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - asOfMs) / 1000));
}

/**
 * The greatest age, milliseconds, that a caller accepts by the `Cache-Control` of their request: `max-age=30`; `no-cache` is `max-age=0`.
 * Undefined without a demand. Malformed or unknown directives are ignored, as in HTTP; of several the strictest counts. Of a header that is
 * too long the beginning counts.
 */
export function parseMaxAgeMs(cacheControl: string | undefined): number | undefined {
  const directives = listDirectives(cacheControl).map((directive) =>
    directive === 'no-cache' ? 'max-age=0' : directive,
  );
  return findSmallest(directives, /^max-age\s*=\s*"?(\d{1,10})"?$/);
}

/**
 * The greatest age, milliseconds, of a cached answer that a caller accepts in place of an error, by the `Cache-Control` of their request:
 * `stale-if-error=600` (RFC 5861). Undefined when they accept none.
 */
export function parseStaleIfErrorMs(cacheControl: string | undefined): number | undefined {
  return findSmallest(listDirectives(cacheControl), /^stale-if-error\s*=\s*"?(\d{1,10})"?$/);
}

/** The directives of a `Cache-Control`, in lower case. */
function listDirectives(cacheControl: string | undefined): string[] {
  const text = (cacheControl ?? '').slice(0, cacheControlMax);
  return text.split(',').map((directive) => directive.trim().toLowerCase());
}

/** The smallest number of seconds that a directive names, in milliseconds; undefined where none does. */
function findSmallest(directives: readonly string[], pattern: RegExp): number | undefined {
  const seconds = directives
    .map((directive) => pattern.exec(directive)?.[1])
    .filter((text) => text !== undefined);
  return seconds.length === 0 ? undefined : Math.min(...seconds.map(Number)) * 1000;
}
