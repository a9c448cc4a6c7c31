import type { AccountHealthSummary, AccountHealthView } from '#contract/answers/credentials.ts';
import type { Clock } from '#core/clock.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import type { AccountHealth, AccountHealthStore } from './model/account-health.ts';

/** Milliseconds after which an account's health is unknown: caching agents run once an hour at least. */
export const healthAgeMsMax = 2 * 3600_000;

/**
 * The health of an account, as `GET /credentials/{account}/health` shows it. One whose settings are wrong is `REJECTED`, with the reason.
 *
 * @param find reads what is known of it
 * @throws NotFoundError for an account that is not configured
 */
export async function getHealthView(
  account: string,
  providers: Pick<ProviderSet, 'findAccount' | 'getAccount' | 'rejectedAccounts'>,
  { find, clock }: { readonly find: AccountHealthStore['find']; readonly clock: Pick<Clock, 'now'> },
): Promise<AccountHealthView> {
  if (providers.findAccount(account) === undefined) {
    const rejected = providers.rejectedAccounts.find(
      ({ name, isUnserved }) => name === account && !isUnserved,
    );
    if (rejected !== undefined) return toRejectedView(account, rejected.reason);
  }
  const { cloudProvider } = providers.getAccount(account);
  const health = await find(account);
  const warning = health?.warning;
  const details = { cloudProvider, ...(warning !== undefined && { warning }) };
  if (health === undefined) return { account, ...toSummary(health, clock), breaker: 'closed', details };
  const { sinceMs: since, checkedAtMs: checkedAt, lastSuccessMs: lastSuccess, breaker } = health;
  return {
    account,
    ...toSummary(health, clock),
    since,
    checkedAt,
    ...(lastSuccess !== undefined && { lastSuccess }),
    breaker,
    details,
  };
}

function toRejectedView(account: string, reason: string): AccountHealthView {
  return { account, state: 'REJECTED', reason, breaker: 'closed', details: {} };
}

/** The health of an account, in short. @param health what is known of it; undefined when nothing is */
export function toSummary(
  health: AccountHealth | undefined,
  clock: Pick<Clock, 'now'>,
): AccountHealthSummary {
  if (health === undefined) return { state: 'UNKNOWN', reason: 'nobody has called it yet' };
  const { state, reason, checkedAtMs } = health;
  if (clock.now() - checkedAtMs > healthAgeMsMax) {
    return { state: 'UNKNOWN', reason: `nobody has called it since; it was ${state}` };
  }
  return { state, ...(reason !== undefined && { reason }) };
}
