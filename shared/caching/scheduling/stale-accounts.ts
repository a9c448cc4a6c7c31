import type { Logger } from '#core/logger.ts';
import { idleIntervalMs } from './caching-agent-schedule.ts';
import { isHeld, type StoredCachingAgent } from './caching-agent-store.ts';

/** Milliseconds that a run may take, and wait for a worker, before its account counts as stale. */
const runMs = 5 * 60_000;

/** Unsuccessful runs after which an account counts as stale that was never read to its end. */
const vainRunsMax = 5;

/** Names in one line of the log at most. */
const toldMax = 50;

/** Turns of the scheduler after which the same accounts are logged again. */
const tellAgainTurns = 10;

/** The accounts that have caching agents. */
export interface AccountCount {
  readonly all: number;
  /** Names of those whose cache is older than it should be, sorted. */
  readonly stale: readonly string[];
}

/** What a process remembers of what it logged. */
export interface StaleMemory {
  told: string;
  turns: number;
}

/**
 * Counts the accounts of caching agents, and the stale ones, of which one caching agent is behind: its data is older than two of its
 * intervals (or two of an idle account's, if these are longer) plus five minutes; or, where nothing is cached, it failed or lost its worker
 * five times in a row, or was not begun for as long. A first list under way may take its time.
 */
export function countStaleAccounts(agents: readonly StoredCachingAgent[], nowMs: number): AccountCount {
  const stale = new Set(agents.filter((agent) => isBehind(agent, nowMs)).map(({ account }) => account));
  return { all: new Set(agents.map(({ account }) => account)).size, stale: [...stale].sort() };
}

/** Logs the names of stale accounts when they have changed, and again in each tenth turn. */
export function tellStaleAccounts(log: Logger, { all, stale }: AccountCount, memory: StaleMemory): void {
  const text = JSON.stringify(stale);
  memory.turns = text === memory.told ? memory.turns + 1 : 0;
  const isOver = stale.length === 0 && memory.told !== '' && memory.told !== '[]';
  memory.told = text;
  if (isOver) log.info('no account is stale any more', { all });
  if (stale.length === 0 || memory.turns % tellAgainTurns !== 0) return;
  log.warn('accounts are stale', { accounts: stale.slice(0, toldMax), stale: stale.length, all });
}

function isBehind({ asOfMs, attempts, failures, ...agent }: StoredCachingAgent, nowMs: number): boolean {
  const toleranceMs = 2 * Math.max(agent.intervalMs, idleIntervalMs) + runMs;
  if (asOfMs !== undefined) return asOfMs + toleranceMs < nowMs;
  if (failures + attempts >= vainRunsMax) return true;
  return !isHeld(agent, nowMs) && agent.nextRunMs + toleranceMs < nowMs;
}
