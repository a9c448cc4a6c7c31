import { isJsonObject } from '#core/json.ts';
import { cacheReader as reader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { type CachingAgentMode, isCacheMode, isModeReason } from '../../scheduling/cache-mode.ts';
import type {
  CachingAgentKey,
  CachingAgentProgress,
  CachingAgentSpec,
  EndedRun,
  StoredCachingAgent,
} from '../../scheduling/caching-agent-store.ts';
import { hashText } from '../../store/hash-text.ts';
import { toKeyText } from '../store/cache-keys.ts';

/** Number of partitions over which caching agents are spread, by a hash of their account. */
export const cachingAgentShards = 16;

/** Characters kept of a failure's message. */
export const errorLengthMax = 2_000;

/** Names the chunks of a state, and the hash of the text that they make up. */
export interface StateChunks {
  /** Prefix of their sort keys. */
  readonly prefix: string;
  readonly count: number;
  /** SHA-256 of the text, hex. */
  readonly hash: string;
}

/** Attributes of a caching agent without its state. */
export const cachingAgentAttributes: readonly string[] = [
  'sk',
  'form',
  'account',
  'name',
  'provider',
  'intervalMs',
  // Owner of the lease, and its end as wall time in ms; empty and 0 without a lease.
  ...['leaseOwner', 'leaseUntil'],
  'fence',
  'lastTurn',
  'nextRunAt',
  'attempts',
  'failures',
  'usedAt',
  // 0 while the caching agent is wanted.
  'removedAt',
  // As JSON: the last run that ended, and the progress of the current one.
  ...['lastRun', 'progress'],
  // Wall time in ms: the cache holds what was so at this time.
  'asOf',
  // The scheduler's choice, its reason, and since when (wall time in ms).
  ...['mode', 'modeReason', 'modeSince'],
  ...['errorAt', 'error'],
];

/** Partition of the caching agents of an account. */
export function getCachingAgentPartition(account: string): string {
  return getCachingAgentShard(hashText(account) % cachingAgentShards);
}

/** The n-th partition of caching agents. */
export function getCachingAgentShard(shard: number): string {
  return `AGENTS#${shard}`;
}

/** Key of a caching agent. */
export function getCachingAgentKey({ account, name }: CachingAgentKey): ItemKey {
  return { pk: getCachingAgentPartition(account), sk: toKeyText(account, name) };
}

/** Prefix of the sort keys of an account's caching agents. */
export function getAccountPrefix(account: string): string {
  return `${toKeyText(account)}#`;
}

/** Partition of the chunks of a caching agent's state. */
export function getStatePartition({ account, name }: CachingAgentKey): string {
  return `AGENT-STATE#${toKeyText(account, name)}`;
}

/** The item of a caching agent that never ran and is due now. */
export function toNewItem(
  { account, name, provider, intervalMs }: CachingAgentSpec,
  nowMs: number,
): Item & ItemKey {
  return {
    ...getCachingAgentKey({ account, name }),
    account,
    name,
    provider,
    intervalMs,
    leaseOwner: '',
    leaseUntil: 0,
    fence: 0,
    // Random text of the last claim: it distinguishes a claim whose answer was lost from another process's claim.
    claim: '',
    lastTurn: 0,
    nextRunAt: nowMs,
    attempts: 0,
    failures: 0,
    usedAt: nowMs,
    removedAt: 0,
  };
}

/** The caching agent of an item. @throws MalformedItemError */
export function parseCachingAgent(item: Item): StoredCachingAgent {
  reader.checkForm(item);
  const leaseOwner = reader.getText(item, 'leaseOwner');
  const errorAt = reader.findNumber(item, 'errorAt');
  const removedAt = reader.getNumber(item, 'removedAt');
  return {
    account: reader.getText(item, 'account'),
    name: reader.getText(item, 'name'),
    provider: reader.getText(item, 'provider'),
    intervalMs: reader.getNumber(item, 'intervalMs'),
    lastTurn: reader.getNumber(item, 'lastTurn'),
    attempts: reader.getNumber(item, 'attempts'),
    failures: reader.getNumber(item, 'failures'),
    nextRunMs: reader.getNumber(item, 'nextRunAt'),
    usedAtMs: reader.getNumber(item, 'usedAt'),
    lease:
      leaseOwner === '' ? undefined : { owner: leaseOwner, untilMs: reader.getNumber(item, 'leaseUntil') },
    lastRun: reader.findJson(item, 'lastRun', isEndedRun),
    progress: reader.findJson(item, 'progress', isAgentProgress),
    asOfMs: reader.findNumber(item, 'asOf'),
    lastError:
      errorAt === undefined ? undefined : { atMs: errorAt, message: reader.findText(item, 'error') ?? '' },
    mode: parseMode(item),
    removedAtMs: removedAt === 0 ? undefined : removedAt,
  };
}

/** An unknown mode counts as none: the scheduler chooses again. */
function parseMode(item: Item): CachingAgentMode | undefined {
  const mode = reader.findText(item, 'mode');
  const reason = reader.findText(item, 'modeReason');
  if (!isCacheMode(mode) || !isModeReason(reason)) return undefined;
  return { mode, reason, sinceMs: reader.findNumber(item, 'modeSince') ?? 0 };
}

/** Where the chunks of a caching agent's state are; undefined when its item holds the state, or it has none. @throws MalformedItemError */
export function findStateChunks(item: Item): StateChunks | undefined {
  const chunks = reader.findMap(item, 'stateChunks');
  if (chunks === undefined) return undefined;
  const where = reader.describeMap(item, 'stateChunks');
  return {
    prefix: reader.getText(chunks, 'prefix', where),
    count: reader.getNumber(chunks, 'count', where),
    hash: reader.getText(chunks, 'hash', where),
  };
}

function isEndedRun(value: unknown): value is EndedRun {
  if (!isAgentProgress(value)) return false;
  const { outcome, durationMs, startedAtMs, lagMs }: Partial<EndedRun> = value;
  const isOutcome = outcome === 'SUCCESS' || outcome === 'FAILURE' || outcome === 'STOPPED';
  return isOutcome && isNumber(durationMs) && isNumber(startedAtMs) && isNumber(lagMs);
}

function isAgentProgress(value: unknown): value is CachingAgentProgress {
  if (!isJsonObject(value)) return false;
  const { items, changes, asOfMs = 0, drift = 0, details } = value;
  const isCounted = isNumber(items) && isNumber(changes) && isNumber(asOfMs) && isNumber(drift);
  return isCounted && (details === undefined || isJsonObject(details));
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
