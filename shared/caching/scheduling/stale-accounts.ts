import type { Logger } from '#core/logger.ts';
import { idleIntervalMs } from './caching-agent-schedule.ts';
import { isHeld, type StoredCachingAgent } from './caching-agent-store.ts';

/** Milliseconds that a run may take, and wait for a worker, before its account counts as stale. */
const runMs = 5 * 60_000;

/** Runs without success after which an account counts as stale that was never read to its end. */
const vainRunsMax = 5;

/** Names that a line of the log holds at most. */
const toldMax = 50;

/** Turns of the scheduler after which the same accounts are told again. */
const tellAgainTurns = 10;

/** How the accounts are that have agents. */
export interface AccountCount {
  readonly all: number;
  /** Names of those whose cache is older than it should be, sorted. */
  readonly stale: readonly string[];
}

/** What a process remembers of what it told. */
export interface StaleMemory {
  told: string;
  turns: number;
}

/**
 * Counts the accounts of agents, and those of which one agent is behind: what it cached is older than two intervals (of an idle
 * account, if its own are shorter) and five minutes; or, where nothing is cached, it failed or lost its worker five times in a row,
 * or was not begun for as long. A first list under way may take its time.
 */
export function countStaleAccounts(agents: readonly StoredCachingAgent[], nowMs: number): AccountCount {
  const stale = new Set(agents.filter((agent) => isBehind(agent, nowMs)).map(({ account }) => account));
  return { all: new Set(agents.map(({ account }) => account)).size, stale: [...stale].sort() };
}

/** Names stale accounts in the log when they are others than before, and again in each tenth turn. */
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
