import type {
  Agent,
  AgentKey,
  AgentLease,
  AgentProgress,
  AgentSpec,
  EndedRun,
} from '../../core/agents/agent-store.ts';
import { hashText } from '../../core/cache/hash-text.ts';
import { toKeyText } from '../cache/cache-keys.ts';
import type { Item, ItemKey } from '../table.ts';

/** Number of partitions over which agents are spread, by a hash of their account. */
export const agentShards = 16;

/** Characters that are kept of a failure's message. */
export const errorLengthMax = 2_000;

/** An agent as stored. */
export interface AgentItem {
  readonly account: string;
  readonly name: string;
  readonly provider: string;
  readonly intervalMs: number;
  /** Empty when nobody holds it. */
  readonly leaseOwner: string;
  /** Wall time in ms; 0 when nobody holds it. */
  readonly leaseUntil: number;
  readonly fence: number;
  /** Random text of the last claim: it tells a claim that was made, but not answered, from that of another. */
  readonly claim: string;
  readonly lastTurn: number;
  readonly nextRunAt: number;
  readonly attempts: number;
  readonly failures: number;
  readonly usedAt: number;
  /** 0 for an agent that is wanted. */
  readonly removedAt: number;
  /** The last run that ended, as JSON. */
  readonly lastRun?: string;
  /** How far a run that goes on has come, as JSON. */
  readonly progress?: string;
  /** Wall time in ms: what was so then is cached. */
  readonly asOf?: number;
  readonly errorAt?: number;
  readonly error?: string;
  /** What it left for its next run, when that is small. */
  readonly state?: string;
  /** Where that is when it is not. */
  readonly stateChunks?: StateChunks;
}

/** Names the chunks of a state and what they must amount to. */
export interface StateChunks {
  /** What their sort keys begin with. */
  readonly prefix: string;
  readonly count: number;
  /** SHA-256 of the text, hex. */
  readonly hash: string;
}

/** Attributes of an agent without its state. */
export const agentAttributes: readonly (keyof AgentItem)[] = [
  'account',
  'name',
  'provider',
  'intervalMs',
  'leaseOwner',
  'leaseUntil',
  'fence',
  'lastTurn',
  'nextRunAt',
  'attempts',
  'failures',
  'usedAt',
  'removedAt',
  'lastRun',
  'progress',
  'asOf',
  'errorAt',
  'error',
];

/** Partition of the agents of an account. */
export function getAgentPartition(account: string): string {
  return getAgentShard(hashText(account) % agentShards);
}

/** The n-th partition of agents. */
export function getAgentShard(shard: number): string {
  return `AGENTS#${shard}`;
}

/** Key of an agent. */
export function getAgentKey({ account, name }: AgentKey): ItemKey {
  return { pk: getAgentPartition(account), sk: toKeyText(account, name) };
}

/** What the sort keys of an account's agents begin with. */
export function getAccountPrefix(account: string): string {
  return `${toKeyText(account)}#`;
}

/** Partition of the chunks of an agent's state. */
export function getStatePartition({ account, name }: AgentKey): string {
  return `AGENT-STATE#${toKeyText(account, name)}`;
}

/** The item of an agent that never ran and is to run now. */
export function toNewItem(
  { account, name, provider, intervalMs }: AgentSpec,
  nowMs: number,
): AgentItem & ItemKey {
  return {
    ...getAgentKey({ account, name }),
    account,
    name,
    provider,
    intervalMs,
    leaseOwner: '',
    leaseUntil: 0,
    fence: 0,
    claim: '',
    lastTurn: 0,
    nextRunAt: nowMs,
    attempts: 0,
    failures: 0,
    usedAt: nowMs,
    removedAt: 0,
  };
}

/** The agent of an item. */
export function parseAgent(found: Item): Agent {
  const item = found as unknown as AgentItem;
  const { account, name, provider, intervalMs, lastTurn, attempts, failures } = item;
  return {
    account,
    name,
    provider,
    intervalMs,
    lastTurn,
    attempts,
    failures,
    nextRunMs: item.nextRunAt,
    usedAtMs: item.usedAt,
    lease: item.leaseOwner === '' ? undefined : { owner: item.leaseOwner, untilMs: item.leaseUntil },
    lastRun: item.lastRun === undefined ? undefined : (JSON.parse(item.lastRun) as EndedRun),
    progress: item.progress === undefined ? undefined : (JSON.parse(item.progress) as AgentProgress),
    asOfMs: item.asOf,
    lastError: item.errorAt === undefined ? undefined : { atMs: item.errorAt, message: item.error ?? '' },
    removedAtMs: item.removedAt === 0 ? undefined : item.removedAt,
  };
}

/** Whether an item is as the end of this lease's run left it; `lastRun` is the text of that run. */
export function isFinished(item: Item, { fence }: AgentLease, lastRun: string): boolean {
  const found = item as unknown as AgentItem;
  return found.fence === fence && found.lastRun === lastRun && found.leaseOwner === '';
}
