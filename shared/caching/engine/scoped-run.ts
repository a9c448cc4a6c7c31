import type { Clock } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import type { CachingResult, CachingRun } from '../scheduling/caching-agent.ts';
import type { CachingAgentProgress } from '../scheduling/caching-agent-store.ts';
import { isThrottle } from '../store/cache-store.ts';
import { hashText } from '../store/hash-text.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import { describeRestoration, isBelievable } from '../writer/restored-platform.ts';
import type { ScopeState } from './caching-agent-state.ts';
import {
  type CachingSession,
  type CachingSessionOptions,
  openCachingSession,
  reopenCachingSession,
} from './caching-session.ts';
import { describeComparison, getNextCheckMs, isCheckDue } from './comparison.ts';
import { isOnePage, mustList, type StatedScope } from './kind-scopes.ts';
import { type CheckedScope, checkScope } from './scope-check.ts';
import { catchUpScope, listScope } from './scope-reader.ts';
import type { ReadOutcome } from './scope-source.ts';
import { summarizeState } from './state-summary.ts';

/** Catch-ups at a time: each is a connection, and mostly waits. */
const catchUpConcurrency = 16;
/** Attempts at a list whose snapshot expires before it is complete. */
const listAttempts = 3;
/** Lists at a time: after a restart of the API server every kind needs one. */
const listConcurrency = 2;
/** A position unchanged for this long is advanced by a longer catch-up, before the platform forgets it. */
const quietMs = { least: 3 * 60_000, spread: 60_000 } as const;
/** The results of lists are stored after this many milliseconds, or this many lists. */
const commitAfter = { ms: 2_000, lists: 16 } as const;

/**
 * Brings an account's cache up to date: asks for each kind's changes since the last run, lists what has no position yet, and evicts
 * what is gone.
 *
 * @throws Error with a readable message when the account's platform cannot be read at all.
 */
export async function runCachingAgent<Facts>(
  options: CachingSessionOptions<Facts>,
  run: CachingRun,
): Promise<CachingResult> {
  const session = await openCachingSession(options, run);
  const first = await new AgentRun(session, options, run).run();
  if (!('proof' in first)) return first;
  const anew = await reopenCachingSession(options, run, { session, ...first });
  const second = await new AgentRun(anew, options, run).run();
  if (!('proof' in second)) return second;
  throw new Error('the cluster went back in time twice during one run');
}

/** A readable proof that the platform went back in time. */
interface Proof {
  readonly proof: string;
}

class AgentRun<Facts> {
  readonly #session: CachingSession<Facts>;
  readonly #clock: Clock;
  readonly #options: CachingSessionOptions<Facts>;
  readonly #run: CachingRun;
  #drift: number | undefined;
  readonly #tried = new Set<ScopeState>();
  readonly #broken = new Map<string, Error>();
  /** Scopes that were read, and scopes that could not be. */
  #read = 0;
  #failed = 0;
  #committedAtMs: number;
  /** Lists since then. */
  #uncommitted = 0;
  /** States are stored one at a time: lists end concurrently. */
  #isStoring = false;

  constructor(session: CachingSession<Facts>, options: CachingSessionOptions<Facts>, run: CachingRun) {
    this.#session = session;
    this.#clock = options.clock;
    this.#options = options;
    this.#run = run;
    this.#committedAtMs = options.clock.monotonic();
  }

  /** Stores the progress even if it fails: the next run continues from there. */
  async run(): Promise<CachingResult | Proof> {
    try {
      return await this.#bringUpToDate();
    } catch (error) {
      if (this.#uncommitted > 0) await this.#store().catch(() => undefined);
      throw error;
    }
  }

  async #bringUpToDate(): Promise<CachingResult | Proof> {
    const session = this.#session;
    await session.evictKinds();
    const proof = await this.#catchUpAll();
    if (proof !== undefined) return { proof };
    const outcome = await this.#listAndCheck();
    if (typeof outcome !== 'string') return outcome;
    if (session.isNew && outcome === 'done') this.#run.cache.takeUnreadable(this.#options.account);
    await session.prune();
    this.#run.signal.throwIfAborted();
    return { ...session.toProgress(), outcome, drift: this.#drift, ...this.#toComplaints() };
  }

  /** @returns proof that the platform went back in time */
  async #catchUpAll(): Promise<string | undefined> {
    const { tools } = this.#session;
    const nowMs = this.#clock.now();
    const scopes = (await this.#session.planScopes()).filter((scope) => !mustList(scope, nowMs));
    const caughtUp = await mapConcurrently(scopes, catchUpConcurrency, async (scope) => {
      const awaitsBookmark = isQuiet(scope, nowMs);
      return { scope, awaitsBookmark, ...(await catchUpScope(scope, tools, awaitsBookmark)) };
    });
    this.#run.signal.throwIfAborted();
    const rewound = caughtUp.find(({ outcome }) => outcome.outcome === 'future');
    if (rewound !== undefined) return toFutureProof(rewound.scope, tools.model);
    // In one call: objects of one application are stored together.
    await tools.write(caughtUp.flatMap(({ changes }) => changes));
    for (const { scope, outcome, added, awaitsBookmark } of caughtUp) {
      const { state } = scope;
      if (awaitsBookmark) state.movedAtMs = nowMs;
      await this.#note(scope, outcome, Math.max(0, state.items + added));
    }
    return undefined;
  }

  async #listAndCheck(): Promise<CachingResult['outcome'] | Proof> {
    const listed = await this.#listAll();
    return listed === 'done' ? this.#check() : listed;
  }

  /** What lists have proved, if it is credible. */
  #toProof(proof: string | undefined): Proof | undefined {
    const isCredible = isBelievable(this.#session.state.restored, this.#clock.now());
    return proof !== undefined && isCredible ? { proof } : undefined;
  }

  async #listAll(): Promise<CachingResult['outcome'] | Proof> {
    for (;;) {
      const proof = this.#toProof(this.#session.proof);
      if (proof !== undefined) return proof;
      const scopes = (await this.#session.planScopes()).filter((scope) => this.#isToBeListed(scope));
      const { isAlone } = this.#run;
      const allowed = scopes.filter(({ state }) => isAlone || isOnePage(state));
      if (allowed.length === 0) return scopes.length === 0 ? 'done' : 'listing';
      await mapConcurrently(allowed, listConcurrency, (scope) => this.#list(scope));
    }
  }

  #isToBeListed(scope: StatedScope): boolean {
    return mustList(scope, this.#clock.now()) && !this.#tried.has(scope.state);
  }

  async #list(scope: StatedScope): Promise<void> {
    this.#tried.add(scope.state);
    const { tools, state } = this.#session;
    state.tooLarge.forgetKind(scope.kind.kind, scope.location);
    const most = this.#session.getRemainingQuota(scope);
    const write: typeof tools.write = async (changes, how) => {
      await tools.write(changes, how);
      await this.#commit();
    };
    const { outcome, items } = await this.#limitList(() => listScope(scope, { ...tools, write }, { most }));
    this.#run.signal.throwIfAborted();
    await this.#note(scope, outcome, items);
    this.#uncommitted += 1;
    await this.#commit();
  }

  /** Lists when the process' limit of lists allows it, and again if the snapshot expires. */
  #limitList<T extends { readonly outcome: ReadOutcome }>(list: () => Promise<T>): Promise<T> {
    const { limitLists = (work) => work() } = this.#options;
    return untilUnexpired(() => limitLists(list));
  }

  /** Stores the progress now and then. If the store is overloaded, it tries another time. */
  async #commit(): Promise<void> {
    const nowMs = this.#clock.monotonic();
    const isDue = nowMs - this.#committedAtMs >= commitAfter.ms || this.#uncommitted >= commitAfter.lists;
    if (!isDue || this.#isStoring) return;
    this.#committedAtMs = nowMs;
    this.#isStoring = true;
    try {
      await this.#store();
    } catch (error) {
      if (!isThrottle(error)) throw error;
    } finally {
      this.#isStoring = false;
    }
  }

  async #store(): Promise<void> {
    const { state, items, changes, asOfMs } = this.#session.toProgress();
    const listed = this.#uncommitted;
    await this.#run.commitState(state, { items, changes, asOfMs, details: this.#toFillDetails() });
    this.#uncommitted -= listed;
  }

  /** Progress of the first fill: how many of the separately read kinds, or locations, were listed. Undefined once all were. */
  #toFillDetails(): CachingAgentProgress['details'] {
    const { kinds, state } = this.#session;
    const { scopes, unlisted } = summarizeState(state, kinds, this.#options.source);
    return unlisted > 0 ? { filled: `${scopes - unlisted} of ${scopes}` } : undefined;
  }

  /** Compares the whole cache with the platform when that is due. */
  async #check(): Promise<CachingResult['outcome'] | Proof> {
    const { state } = this.#session;
    if (!isCheckDue(state, this.#clock.now())) return 'done';
    if (!this.#run.isAlone) return 'listing';
    const atMs = this.#clock.now();
    const scopes = (await this.#session.planScopes()).filter((scope) => this.#isToBeChecked(scope));
    const checks = await mapConcurrently(scopes, listConcurrency, (scope) => this.#checkScope(scope));
    this.#run.signal.throwIfAborted();
    // Objects kept since another choice are no earlier mistakes.
    if (state.checkAtMs !== 0) this.#drift = checks.reduce((sum, { drift }) => sum + drift, 0);
    const proof = this.#toProof(checks.map((each) => each.proof).find((each) => each !== undefined));
    if (proof !== undefined) return proof;
    state.checkAtMs = getNextCheckMs(this.#clock, this.#options.randomness);
    if (checks.some(({ isBlocked }) => isBlocked)) await this.#session.raiseEpoch();
    else state.compared = { atMs, drift: this.#drift };
    return 'done';
  }

  async #checkScope(scope: StatedScope): Promise<CheckedScope> {
    const checked = await this.#limitList(() => checkScope(scope, this.#session.tools));
    const { outcome, caughtUp, items } = checked;
    // Changes received before the list broke off are cached all the same.
    if (caughtUp?.outcome === 'caughtUp') await this.#note(scope, caughtUp, items);
    else if (outcome.outcome === 'listed') scope.state.items = items;
    else if (outcome.outcome !== 'aborted') await this.#note(scope, outcome, scope.state.items);
    await this.#commit();
    return outcome.outcome === 'listed' ? checked : { ...checked, drift: 0, isBlocked: false };
  }

  #isToBeChecked(scope: StatedScope): boolean {
    return (
      !this.#tried.has(scope.state) &&
      scope.state.position !== undefined &&
      this.#session.getRemainingQuota(scope) === undefined
    );
  }

  async #note(scope: StatedScope, outcome: ReadOutcome, items: number): Promise<void> {
    const { state, kind } = scope;
    const { position, asOfMs = state.asOfMs, error } = outcome;
    switch (outcome.outcome) {
      case 'listed':
      case 'caughtUp':
        this.#read += 1;
        return this.#session.recordRead(scope, { position, asOfMs, items });
      case 'forbidden':
        return this.#session.recordForbidden(scope);
      case 'gone':
        return this.#session.recordDeletion(scope);
      case 'expired':
        state.position = undefined;
        return;
      default:
        // What came before it broke off is cached: the next catch-up continues from there.
        Object.assign(state, { position, items });
        this.#failed += 1;
        this.#broken.set(kind.kind, error ?? new Error('it broke off'));
    }
  }

  /** A part that cannot be read is reported, and the rest does not wait for it. If most cannot be read, the run has failed. */
  #toComplaints(): Pick<CachingResult, 'error' | 'details'> {
    const { kinds, areLocationsUnknown, state } = this.#session;
    const { scopes, forbidden, isAllForbidden } = summarizeState(state, kinds, this.#options.source);
    const broken = joinNames([...this.#broken].map(toText));
    const { compared } = state;
    const restored = describeRestoration(state.restored, this.#clock.now());
    const details = state.tooLarge.addTo({
      kinds: kinds.length,
      watches: scopes,
      ...(forbidden.length > 0 && { forbidden: joinNames(forbidden) }),
      ...(areLocationsUnknown && this.#options.source.unknownLocations),
      ...(broken !== '' && { broken }),
      ...(restored !== undefined && { restored }),
      ...(compared !== undefined && { compared: describeComparison(compared) }),
    });
    if (this.#failed > this.#read) return { details, error: `could not be read: ${broken}` };
    if (isAllForbidden) return { details, error: `none of the kinds may be read: ${joinNames(forbidden)}` };
    return { details };
  }
}

/** The result of a list that starts again as long as its snapshot expires before it is complete. */
async function untilUnexpired<T extends { readonly outcome: ReadOutcome }>(
  list: () => Promise<T>,
): Promise<T> {
  let listed = await list();
  for (let attempt = 2; listed.outcome.outcome === 'expired' && attempt <= listAttempts; attempt += 1) {
    listed = await list();
  }
  return listed;
}

/** Proof that the platform is behind what it returned before. */
function toFutureProof(
  { kind: { kind }, location, state: { position } }: StatedScope,
  { positionName }: Pick<CacheModel<unknown>, 'positionName'>,
): string {
  const where = location === '' ? '' : ` in ${location}`;
  return `the newest ${positionName} of ${kind}${where} is lower than ${position}, which it had before`;
}

/** Whether a position has not moved for a while; the time differs between scopes. */
function isQuiet({ state, kind, location }: StatedScope, nowMs: number): boolean {
  const spreadMs = hashText(`${kind.kind} ${location}`) % quietMs.spread;
  return nowMs - state.movedAtMs >= quietMs.least + spreadMs;
}

function toText([kind, error]: readonly [string, Error]): string {
  return `${kind}: ${error.message}`;
}

function joinNames(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return (names.length > 10 ? `${shown} and ${names.length - 10} more` : shown).slice(0, 1_000);
}
