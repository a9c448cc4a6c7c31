import type { Clock, Randomness } from '#core/clock.ts';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import type { CachingResult, CachingRun } from '../scheduling/caching-agent.ts';
import type { ObjectHead } from '../store/cache-store.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import type { CacheWriter, ObjectChange } from '../writer/object-change.ts';
import { type EpochTools, findEpoch, raiseEpoch } from './account-epoch.ts';
import {
  type CachingAgentState,
  createCachingAgentState,
  createKindState,
  formatCachingAgentState,
  type KindState,
  parseCachingAgentState,
  type ScopeState,
} from './caching-agent-state.ts';
import { getNextCheckMs, takeUpDemand } from './comparison.ts';
import { limitChanges } from './kind-limits.ts';
import { forbiddenRetryMs, isNarrow, planScopes, type StatedScope } from './kind-scopes.ts';
import { evict, type ScopeTools, type ScopeWrite, toScope } from './scope-reader.ts';
import type { OpenSource, ScopedKind, ScopeSource } from './scope-source.ts';
import { summarizeState } from './state-summary.ts';
import { pruneWaiting, recordWaiting } from './waiting.ts';

/** The parts of a caching agent, for all of its runs. */
export interface CachingSessionOptions<Facts> {
  /** Name of the account. */
  readonly account: string;
  readonly source: ScopeSource<Facts>;
  readonly model: CacheModel<Facts>;
  readonly writer: CacheWriter<Facts>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Limits the lists of this process. Default: no limit. */
  readonly limitLists?: ConcurrencyLimit | undefined;
}

/** The part of a run, or of a watch, that a session uses. */
export type CachingSessionRun = Pick<CachingRun, 'cache' | 'state' | 'signal' | 'ensureHeld'>;

/**
 * Finds out what to do: the current epoch, the kinds to cache, and the state of an earlier run, if it has the same epoch and the same
 * rules.
 *
 * @throws Error with a readable message when the account's platform cannot be reached.
 */
export async function openCachingSession<Facts>(
  options: CachingSessionOptions<Facts>,
  run: CachingSessionRun,
): Promise<CachingSession<Facts>> {
  const { account, source, clock } = options;
  const { rules } = source;
  const known = parseCachingAgentState(run.state);
  const read = await source.readIdentity(run.signal);
  const identity = read || (known?.identity ?? '');
  const tools = { account, cache: run.cache, clock };
  const found = await findEpoch(tools, read, known?.identity ?? '');
  const isListedAnew = known?.epoch !== found.epoch || known.rules !== rules;
  const hasOtherRules = known?.epoch === found.epoch && known.rules !== rules;
  // Only a list in a new epoch overwrites what another release wrote.
  const isDamaged = !isListedAnew && run.cache.takeUnreadable(account);
  const current = hasOtherRules || isDamaged ? await raiseEpoch(tools, { ...found, identity }) : found;
  const { epoch } = current;
  const isUsable = known?.epoch === epoch && known.rules === rules;
  const state = isUsable ? known : toNewState(options, { known, epoch, rules });
  state.identity = identity;
  takeUpDemand(state, current, clock);
  return createAgentSession(options, run, state);
}

/**
 * Begins another epoch: the platform is not the same as before, and everything must be listed again.
 *
 * @param how.proof readable proof that the platform went back in time.
 */
export async function reopenCachingSession<Facts>(
  options: CachingSessionOptions<Facts>,
  run: CachingSessionRun,
  { session, proof }: { readonly session: CachingSession<Facts>; readonly proof: string },
): Promise<CachingSession<Facts>> {
  const { epoch, rules, identity } = session.state;
  const tools: EpochTools = { account: options.account, cache: run.cache, clock: options.clock };
  const raised = await raiseEpoch(tools, { epoch, identity });
  const state = toNewState(options, { known: session.state, epoch: raised.epoch, rules });
  state.restored = { atMs: options.clock.now(), proof };
  takeUpDemand(state, raised, options.clock);
  return createAgentSession(options, run, state);
}

function toNewState(
  { clock, randomness }: Pick<CachingSessionOptions<never>, 'clock' | 'randomness'>,
  { known, epoch, rules }: { known: CachingAgentState | undefined; epoch: number; rules: string },
): CachingAgentState {
  const checkAtMs = getNextCheckMs(clock, randomness);
  const state = createCachingAgentState({ epoch, rules, identity: known?.identity ?? '', checkAtMs });
  state.restored = known?.restored;
  for (const [application, dueMs] of known?.waiting ?? []) state.waiting.set(application, dueMs);
  return state;
}

async function createAgentSession<Facts>(
  options: CachingSessionOptions<Facts>,
  run: CachingSessionRun,
  state: CachingAgentState,
): Promise<CachingSession<Facts>> {
  const source = await options.source.open({ epoch: state.epoch, signal: run.signal });
  return new CachingSession(options, run, { state, source });
}

/** The findings of a session at its start. */
interface SessionStart<Facts> {
  readonly state: CachingAgentState;
  readonly source: OpenSource<Facts>;
}

/**
 * A caching agent at work: what it watches, what it knows, and how changes get into the cache. Runs and watchers differ only in how they
 * receive changes.
 */
export class CachingSession<Facts> {
  readonly kinds: readonly ScopedKind[];
  readonly state: CachingAgentState;
  readonly tools: ScopeTools<Facts>;
  /** Objects that this session put or removed. */
  changes = 0;
  /** What a list proved: see `findProof`. */
  proof: string | undefined;
  /** Whether nothing was known of the account: everything is listed, and overwrites what another release left. */
  readonly isNew: boolean;
  /** Whether locations must be read one by one and the account may not list them. */
  areLocationsUnknown = false;
  readonly #options: CachingSessionOptions<Facts>;
  readonly #run: CachingSessionRun;
  #locations: Promise<readonly string[] | undefined> | undefined;

  constructor(
    options: CachingSessionOptions<Facts>,
    run: CachingSessionRun,
    { state, source }: SessionStart<Facts>,
  ) {
    const { account, model, clock } = options;
    const { cache, signal } = run;
    this.#options = options;
    this.#run = run;
    this.kinds = source.kinds;
    this.state = state;
    this.isNew = state.kinds.size === 0;
    const write: ScopeTools<Facts>['write'] = (changes, how) => this.#write(changes, how);
    this.#recordChoice(source.choice);
    this.tools = { account, cache, source, model, epoch: state.epoch, clock, signal, write };
  }

  /** What to read now: see `planScopes`. Evicts cached objects of deleted locations. */
  async planScopes(): Promise<StatedScope[]> {
    const { source, clock } = this.#options;
    const scopes: StatedScope[] = [];
    for (const kind of this.kinds) {
      const kindState = this.#getKindState(kind);
      const narrow = isNarrow(kind, kindState, source);
      if (narrow) this.#locations ??= this.#readLocations();
      const locations = narrow ? await this.#locations : undefined;
      if (narrow && locations !== undefined) await this.#sweepLocations(kind, kindState, locations);
      scopes.push(...planScopes(kind, kindState, { source, locations, nowMs: clock.now() }));
    }
    return scopes;
  }

  /** Evicts cached objects of kinds that are unwanted, or that the platform does not have. */
  async evictKinds(): Promise<void> {
    const { state, kinds } = this;
    const { account, source } = this.#options;
    const cached = state.isSwept
      ? []
      : (await this.#run.cache.listKinds(account)).filter((kind) => source.isOwn(kind));
    const selected = new Set(kinds.map(({ kind }) => kind));
    for (const kind of new Set([...cached, ...state.kinds.keys()])) {
      if (selected.has(kind)) continue;
      await this.evictKind(kind);
      state.kinds.delete(kind);
    }
    state.isSwept = true;
  }

  /** Evicts all that is cached of a kind. */
  async evictKind(kind: string): Promise<void> {
    // At their own revisions, so that later versions of the same objects can still be cached.
    await evict(this.tools, { kind, findEviction: ({ revision }) => revision });
  }

  /** How many objects of a scope may be cached; undefined for no limit. */
  getRemainingQuota({ kind: { kind }, kindState, location }: StatedScope): number | undefined {
    const most = this.#options.source.findLimit(kind);
    if (most === undefined || location === '') return most;
    const others = [...kindState.scopes].filter(([other]) => other !== '' && other !== location);
    return Math.max(
      0,
      others.reduce((left, [, { items }]) => left - items, most),
    );
  }

  /** Begins another epoch for the next run, which lists everything again. */
  async raiseEpoch(): Promise<void> {
    const { account, clock } = this.#options;
    const { epoch, identity } = this.state;
    await raiseEpoch({ account, cache: this.#run.cache, clock }, { epoch, identity });
  }

  /** Notes that a scope was brought up to date, and that it may be read. */
  recordRead({ state, kindState, location }: StatedScope, read: Partial<ScopeState>): void {
    const { clock } = this.#options;
    if (read.position !== state.position) state.movedAtMs = clock.now();
    Object.assign(state, read);
    state.forbiddenAtMs = undefined;
    state.goneAtMs = undefined;
    if (location !== '' || kindState.wideAtMs === undefined) return;
    kindState.wideAtMs = undefined;
    for (const narrow of [...kindState.scopes.keys()]) if (narrow !== '') kindState.scopes.delete(narrow);
  }

  /** Notes that a scope may not be read, or may not be watched. Its cached objects stay as they are. */
  async recordForbidden(scope: StatedScope): Promise<void> {
    const { state, kind, kindState, location } = scope;
    const nowMs = this.#options.clock.now();
    if (state.position !== undefined && (await this.tools.source.canList(toScope(scope)))) {
      state.unwatchableAtMs = nowMs;
      return;
    }
    state.forbiddenAtMs = nowMs;
    if (location !== '' || !kind.isDivided) return;
    if (kindState.wideAtMs === undefined) kindState.isSwept = false;
    kindState.wideAtMs = nowMs + forbiddenRetryMs.all;
  }

  /** Notes that the platform does not serve a kind: see `OpenSource.isServed`. */
  async recordDeletion({ state, kind: { kind } }: StatedScope): Promise<void> {
    const { source, clock } = this.tools;
    state.position = undefined;
    if (await source.isServed(kind)) return;
    if (state.asOfMs !== undefined) await this.evictKind(kind);
    Object.assign(state, { asOfMs: undefined, items: 0, goneAtMs: clock.now() });
  }

  /** Checks applications from which something was removed a while ago, and removes from the directory what they lost. */
  async prune(): Promise<void> {
    const { writer, clock } = this.#options;
    const { waiting, tooLarge } = this.state;
    const checked = await pruneWaiting(waiting, writer, clock.now());
    for (const application of checked) tooLarge.forgetApplication(application);
  }

  /** The progress so far. */
  toProgress(): Omit<CachingResult, 'outcome'> {
    const { items, asOfMs } = summarizeState(this.state, this.kinds, this.#options.source);
    return { state: formatCachingAgentState(this.state), items, changes: this.changes, asOfMs };
  }

  #getKindState({ kind }: ScopedKind): KindState {
    return getOrAdd(this.state.kinds, kind, createKindState);
  }

  async #readLocations(): Promise<readonly string[] | undefined> {
    const locations = await this.tools.source.listLocations();
    this.areLocationsUnknown = locations === undefined;
    return locations;
  }

  /** Evicts cached objects of locations that are gone or not read any more. */
  async #sweepLocations(
    { kind }: ScopedKind,
    kindState: KindState,
    locations: readonly string[],
  ): Promise<void> {
    const wanted = new Set(locations);
    const { scopes } = kindState;
    const gone = [...scopes.keys()].filter((location) => location !== '' && !wanted.has(location));
    if (gone.length > 0) kindState.isSwept = false;
    if (kindState.isSwept) return;
    const isGone = ({ key }: Pick<ObjectHead, 'key'>): boolean => !wanted.has(key.location);
    await evict(this.tools, { kind, findEviction: (head) => (isGone(head) ? head.revision : undefined) });
    for (const location of gone) scopes.delete(location);
    kindState.isSwept = true;
  }

  async #write(
    changes: readonly ObjectChange<Facts>[],
    { isListed = false }: ScopeWrite = {},
  ): Promise<void> {
    if (changes.length === 0) return;
    const { cache } = this.#run;
    const { account, writer, source } = this.#options;
    const findLimit = (kind: string): number | undefined => source.findLimit(kind);
    const limited = isListed ? changes : await limitChanges(changes, { account, cache, findLimit });
    if (limited.length === 0) return;
    const outcome = await writer.write(limited, { ensureHeld: () => this.#run.ensureHeld() });
    this.changes += outcome.changes;
    if (isListed) this.proof ??= outcome.proof;
    this.state.tooLarge.recordWritten(limited, outcome.dropped);
    recordWaiting(this.state.waiting, outcome.waiting, this.#options.clock.now());
  }

  /** Objects that another choice keeps are searched for at once. */
  #recordChoice(choice: string): void {
    if (this.state.choice !== '' && choice !== this.state.choice) this.state.checkAtMs = 0;
    this.state.choice = choice;
  }
}
