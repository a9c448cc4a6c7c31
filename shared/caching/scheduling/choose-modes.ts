import type { CachingAgentMode, ModeReason } from './cache-mode.ts';
import type { CachingAgent } from './caching-agent.ts';
import type { StoredCachingAgent } from './caching-agent-store.ts';

/** Watches of one caching agent, each a connection: one that needs more is run by turns. */
export const watchesMax = 60;

/** Changes a second, over 5 minutes, above which it runs by turns: some 50 share a processor, which needs 1 ms for a change. */
export const changesPerSecondMax = 20;

/** Milliseconds without a read or a deployment after which an account is not watched: 1 hour. */
export const watchedUnusedMs = 60 * 60_000;

/** Milliseconds after which a caching agent that was too much for a stream is tried again: 1 hour. */
const returnAfterMs = 60 * 60_000;

/** The share of a limit below which a caching agent that had exceeded it is watched again. */
const returnShare = { watches: 0.8, changes: 0.25 };

/** A caching agent with its configuration. */
export interface ConfiguredCachingAgent {
  readonly agent: StoredCachingAgent;
  readonly configured: CachingAgent;
}

/** The mode that a caching agent is to have. */
export type ModeChoice = Pick<CachingAgentMode, 'mode' | 'reason'>;

/** A caching agent with the mode that it gets unless too many are watched. */
interface Wish extends ConfiguredCachingAgent {
  readonly choice: ModeChoice;
}

/**
 * The mode of each caching agent. What the account's settings say holds. Otherwise it streams unless it is known to be too large, too busy
 * or unused, or there are too many: then accounts that are watched already stay so, followed by those used last. What was too large or too
 * busy stays with turns for an hour, and until it is well below the limit.
 *
 * @param nowMs wall time, milliseconds
 */
export function chooseModes(
  agents: readonly ConfiguredCachingAgent[],
  nowMs: number,
): readonly { readonly agent: StoredCachingAgent; readonly choice: ModeChoice }[] {
  const wishes = agents.map((each) => ({ ...each, choice: toWish(each, nowMs) }));
  const allowed = pickAccounts(wishes);
  return wishes.map(({ agent, configured, choice }) => {
    const isOver = choice.reason === 'default' && !allowed.has(configured.account);
    return { agent, choice: isOver ? toInterval('limit') : choice };
  });
}

function toWish({ agent, configured }: ConfiguredCachingAgent, nowMs: number): ModeChoice {
  if (configured.mode !== 'automatic') return { mode: configured.mode, reason: 'setting' };
  if (agent.usedAtMs + watchedUnusedMs <= nowMs) return toInterval('unused');
  const excess = findExcess(agent, nowMs);
  return excess === undefined ? { mode: 'stream', reason: 'default' } : toInterval(excess);
}

/** Which limit of watching a caching agent exceeds; undefined when none. */
function findExcess(agent: StoredCachingAgent, nowMs: number): 'watches' | 'changes' | undefined {
  const { mode } = agent;
  const before = mode?.mode === 'interval' ? mode.reason : undefined;
  const isFresh = mode !== undefined && mode.sinceMs + returnAfterMs > nowMs;
  const watches = readDetail(agent, 'watches');
  if (before === 'watches' && (isFresh || watches > watchesMax * returnShare.watches)) return 'watches';
  if (watches > watchesMax) return 'watches';
  const changes = getChangesPerSecond(agent);
  if (before === 'changes' && (isFresh || changes > changesPerSecondMax * returnShare.changes))
    return 'changes';
  return mode?.mode === 'stream' && changes > changesPerSecondMax ? 'changes' : undefined;
}

/** The rate that a watcher measured, else what the last run found. */
function getChangesPerSecond(agent: StoredCachingAgent): number {
  if (agent.mode?.mode === 'stream') return readDetail(agent, 'changesPerSecond');
  return ((agent.lastRun?.changes ?? 0) * 1000) / agent.intervalMs;
}

function readDetail({ progress, lastRun }: StoredCachingAgent, name: string): number {
  const value = (progress?.details ?? lastRun?.details)?.[name];
  return typeof value === 'number' ? value : 0;
}

/** The accounts that may be watched, of those with a caching agent that streams by default. */
function pickAccounts(wishes: readonly Wish[]): ReadonlySet<string> {
  const wanted = wishes.filter(({ choice }) => choice.reason === 'default');
  const byAccount = [...Map.groupBy(wanted, ({ configured }) => configured.account).values()];
  const accounts = byAccount.flatMap(([first]) => first ?? []).sort(byClaim);
  const picked = new Set<string>();
  for (const { configured } of accounts) {
    const { account, streamedAccountsMax = Number.POSITIVE_INFINITY } = configured;
    if (picked.size < streamedAccountsMax) picked.add(account);
  }
  return picked;
}

/** Watched accounts stay so; of the others, the one used last comes first. */
function byClaim({ agent: one }: ConfiguredCachingAgent, { agent: other }: ConfiguredCachingAgent): number {
  const isWatched = ({ mode }: StoredCachingAgent): number => (mode?.mode === 'stream' ? 1 : 0);
  return isWatched(other) - isWatched(one) || other.usedAtMs - one.usedAtMs;
}

function toInterval(reason: ModeReason): ModeChoice {
  return { mode: 'interval', reason };
}
