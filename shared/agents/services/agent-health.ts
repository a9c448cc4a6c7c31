import type { Account } from '#accounts/model/account.ts';
import type { AccountHealthSummary, AccountHealthView } from '#contract/answers/credentials.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { journalFormat } from '#tasks/journal-format.ts';
import { describeAgentHealth } from '../agent-health.ts';

/** Milliseconds for which it is not looked up again how accounts are: they are polled. */
const healthForMs = 5_000;

/** Milliseconds after which the health of an account that no request asks for is forgotten. */
const forgottenMs = 60_000;

/** Accounts that are looked up at a time. */
const accountsAtOnce = 16;

/** The health of an account that agents serve: by which are connected, for nothing else reaches its cluster. */
export async function getAgentHealth(services: Services, account: Account): Promise<AccountHealthView> {
  const { name, cloudProvider, agentHome } = account;
  // Loaded late: accounts that agents serve are few.
  const [{ openAgentSessions }, { openAgentEnrolments }, { openInboxes }] = await Promise.all([
    import('../sessions/agent-sessions.ts'),
    import('./agent-enrolments.ts'),
    import('./agent-inboxes.ts'),
  ]);
  const [sessions, enrolment, waiting] = await Promise.all([
    openAgentSessions(services).listOf(name),
    openAgentEnrolments(services).find(name),
    openInboxes(services).list(name, 1),
  ]);
  const nowMs = openBase(services).clock.now();
  const health = describeAgentHealth({
    ...{ sessions, isRevoked: enrolment.isRevoked, waitingSinceMs: waiting[0]?.acceptedAtMs, nowMs },
    journalFormat,
    minReplicas: agentHome?.minReplicas ?? 1,
  });
  const { state, reason, connected, lastSeenMs } = health;
  return {
    account: name,
    state,
    ...(reason !== undefined && { reason }),
    checkedAt: nowMs,
    ...(lastSeenMs !== undefined && { lastSuccess: lastSeenMs }),
    breaker: 'closed',
    details: { cloudProvider, connectedAgents: connected },
  };
}

/** The health, by name, of those of the accounts that agents serve. It may be some seconds old; nothing is asked of other accounts. */
export async function readAgentHealths(
  services: Services,
  accounts: readonly Account[],
): Promise<ReadonlyMap<string, AccountHealthSummary>> {
  const served = accounts.filter(({ agentHome }) => agentHome !== undefined);
  if (served.length === 0) return new Map();
  const memory = services.get(createMemory);
  const nowMs = openBase(services).clock.now();
  const entries = await mapConcurrently(served, accountsAtOnce, async (account) => {
    const known = memory.get(account.name);
    if (known !== undefined && Math.abs(nowMs - known.atMs) < healthForMs) return known.entry;
    const { state, reason } = await getAgentHealth(services, account);
    const entry = [account.name, { state, ...(reason !== undefined && { reason }) }] as const;
    memory.set(account.name, { atMs: nowMs, entry });
    return entry;
  });
  for (const name of memory.keys())
    if (nowMs - (memory.get(name)?.atMs ?? 0) > forgottenMs) memory.delete(name);
  return new Map(entries);
}

type HealthMemory = Map<
  string,
  { readonly atMs: number; readonly entry: readonly [string, AccountHealthSummary] }
>;

function createMemory(): HealthMemory {
  return new Map();
}
