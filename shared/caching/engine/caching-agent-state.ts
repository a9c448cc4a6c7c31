import { asJsonArray, asString, isJsonObject, type JsonObject } from '#core/json.ts';
import type { Restoration } from '../writer/restored-platform.ts';
import { TooLargeNames } from './too-large.ts';

/** What is known of the objects of a kind in one location, or in all. */
export interface ScopeState {
  /** The position up to which everything is cached; undefined if it must be listed. */
  position: string | undefined;
  /** The cache is complete as of this time, wall time in milliseconds; undefined until it was listed. */
  asOfMs: number | undefined;
  /** Its cached objects; a number for display, counted again with each list. */
  items: number;
  /** When the position was last known to be recent, wall time in milliseconds: platforms forget old ones. */
  movedAtMs: number;
  /** Since when it may not be read: what was cached of it is kept. */
  forbiddenAtMs?: number | undefined;
  /** Since when it is known that it may be listed, but not be watched. */
  unwatchableAtMs?: number | undefined;
  /** Since when the platform does not serve the kind. */
  goneAtMs?: number | undefined;
}

/** What is known of a kind. */
export interface KindState {
  /** By location; the empty one means all locations, and is that of a kind in none. */
  readonly scopes: Map<string, ScopeState>;
  /** When to try again to read all locations at once; undefined as long as that is allowed. */
  wideAtMs: number | undefined;
  /** Whether cached objects of unread locations have been evicted, where locations are read one by one. */
  isSwept: boolean;
}

/** What a caching agent remembers from one run to the next. */
export interface CachingAgentState {
  /** The epoch that all of it belongs to. In another epoch it is worthless. */
  readonly epoch: number;
  /** See `ScopeSource.rules`. */
  readonly rules: string;
  /** Identity of the platform as it was last read; empty where that may not be read. */
  identity: string;
  /** See `OpenSource.choice`. */
  choice: string;
  /** Whether cached objects of unwanted kinds have been evicted. */
  isSwept: boolean;
  /** When the whole cache is to be compared with the platform, wall time in milliseconds. */
  checkAtMs: number;
  /** The last request for a comparison that was honored: see `AccountEpoch`. */
  compareMs?: number | undefined;
  /** When it was last compared, wall time in milliseconds, and how many objects were wrong, if that was counted. */
  compared?: { readonly atMs: number; readonly drift?: number | undefined } | undefined;
  /** When the platform was last noticed to have gone back in time. */
  restored?: Restoration | undefined;
  readonly kinds: Map<string, KindState>;
  /** What is too large to be cached. */
  readonly tooLarge: TooLargeNames;
  /** Applications from which something was removed, with the earliest time to check the directory. */
  readonly waiting: Map<string, number>;
}

/** The state of a caching agent that is new to an epoch. */
export function createCachingAgentState(
  known: Pick<CachingAgentState, 'epoch' | 'rules' | 'identity' | 'checkAtMs'>,
): CachingAgentState {
  return {
    ...known,
    choice: '',
    isSwept: false,
    kinds: new Map(),
    tooLarge: new TooLargeNames(),
    waiting: new Map(),
  };
}

/** The state of a kind of which nothing is known yet. */
export function createKindState(): KindState {
  return { scopes: new Map(), wideAtMs: undefined, isSwept: false };
}

/** The state of a scope that is to be listed. */
export function createScopeState(nowMs: number): ScopeState {
  return { position: undefined, asOfMs: undefined, items: 0, movedAtMs: nowMs };
}

/** The version of the stored form. Raise it with every change: a state of another version is discarded. */
const formVersion = 1;

/** A scope as stored; compact, since it is written with every run. */
type StoredScope = readonly [
  position: string,
  asOfMs: number,
  items: number,
  movedAtMs: number,
  forbiddenAtMs?: number,
  unwatchableAtMs?: number,
  goneAtMs?: number,
];

interface StoredKind {
  /** Scopes by location. */
  readonly s: { readonly [location: string]: StoredScope };
  /** When to try all locations again. */
  readonly w?: number;
  /** Whether it was swept. */
  readonly e?: 1;
}

/** The state as text. */
export function formatCachingAgentState(state: CachingAgentState): string {
  const { identity: cluster, choice: applications, kinds, tooLarge, waiting, ...plain } = state;
  return JSON.stringify({
    form: formVersion,
    ...plain,
    cluster,
    ...(applications !== '' && { applications }),
    kinds: Object.fromEntries([...kinds].map(([kind, known]) => [kind, toStoredKind(known)])),
    ...(tooLarge.names.size > 0 && { tooLarge: [...tooLarge.names] }),
    ...(waiting.size > 0 && { waiting: Object.fromEntries(waiting) }),
  });
}

/** The state in a text; undefined if it is not a state, or one of another version. */
export function parseCachingAgentState(text: string | undefined): CachingAgentState | undefined {
  if (text === undefined) return undefined;
  try {
    const stored: unknown = JSON.parse(text);
    return isJsonObject(stored) && stored['form'] === formVersion ? toAgentState(stored) : undefined;
  } catch {
    return undefined;
  }
}

function toAgentState(stored: JsonObject): CachingAgentState {
  const kinds = Object.entries((stored['kinds'] ?? {}) as unknown as Record<string, StoredKind>);
  const waiting = Object.entries((stored['waiting'] ?? {}) as Record<string, number>);
  return {
    epoch: Number(stored['epoch']),
    rules: asString(stored['rules']) ?? '',
    identity: asString(stored['cluster']) ?? '',
    choice: asString(stored['applications']) ?? '',
    isSwept: stored['isSwept'] === true,
    checkAtMs: Number(stored['checkAtMs']),
    compareMs: toNumber(stored['compareMs']),
    compared: toComparison(stored['compared']),
    restored: toRestoration(stored['restored']),
    kinds: new Map(kinds.map(([kind, known]) => [kind, toKindState(known)])),
    tooLarge: new TooLargeNames(asJsonArray(stored['tooLarge']).filter((name) => typeof name === 'string')),
    waiting: new Map(waiting),
  };
}

function toComparison(stored: unknown): CachingAgentState['compared'] {
  if (!isJsonObject(stored)) return undefined;
  return { atMs: Number(stored['atMs']), drift: toNumber(stored['drift']) };
}

function toNumber(stored: unknown): number | undefined {
  return typeof stored === 'number' ? stored : undefined;
}

function toRestoration(stored: unknown): Restoration | undefined {
  if (!isJsonObject(stored)) return undefined;
  return { atMs: Number(stored['atMs']), proof: asString(stored['proof']) ?? '' };
}

function toStoredKind({ scopes, wideAtMs, isSwept }: KindState): StoredKind {
  return {
    s: Object.fromEntries([...scopes].map(([location, scope]) => [location, toStoredScope(scope)])),
    ...(wideAtMs !== undefined && { w: wideAtMs }),
    ...(isSwept && { e: 1 as const }),
  };
}

function toKindState({ s, w, e }: StoredKind): KindState {
  return {
    scopes: new Map(Object.entries(s).map(([location, scope]) => [location, toScopeState(scope)])),
    wideAtMs: w,
    isSwept: e === 1,
  };
}

/** Times are at least 1; unknown values are 0 or, at the end, omitted. */
function toStoredScope(scope: ScopeState): StoredScope {
  const { position = '', asOfMs = 0, items, movedAtMs } = scope;
  const { forbiddenAtMs = 0, unwatchableAtMs = 0, goneAtMs = 0 } = scope;
  const usual = [position, asOfMs, items, movedAtMs] as const;
  const isUsual = forbiddenAtMs + unwatchableAtMs + goneAtMs === 0;
  return isUsual ? usual : [...usual, forbiddenAtMs, unwatchableAtMs, goneAtMs];
}

function toScopeState(stored: StoredScope): ScopeState {
  const [position, asOfMs, items, movedAtMs, forbiddenAtMs, unwatchableAtMs, goneAtMs] = stored;
  return {
    position: position || undefined,
    asOfMs: asOfMs || undefined,
    items,
    movedAtMs,
    forbiddenAtMs: forbiddenAtMs || undefined,
    unwatchableAtMs: unwatchableAtMs || undefined,
    goneAtMs: goneAtMs || undefined,
  };
}
