import type { CachingResult, CachingRun } from '../../../core/agents/caching-agent.ts';
import { hashText } from '../../../core/cache/hash-text.ts';
import type { Clock } from '../../../core/clock.ts';
import { mapConcurrently } from '../../../core/concurrency.ts';
import type { CacheWriter } from '../cache-writer/object-change.ts';
import { describeRestoration, isBelievable } from '../cache-writer/restored-cluster.ts';
import type { DrainOutcome } from '../watch/drain-kind.ts';
import type { AgentState } from './agent-state.ts';
import {
  type CachingWork,
  type CachingWorkOptions,
  type CachingWorkRun,
  getNextCheckMs,
  openCachingWork,
  reopenCachingWork,
} from './caching-work.ts';
import { createPageLimit } from './kind-limits.ts';
import { isOnePage, mustList, type WatchedScope } from './kind-scopes.ts';
import { type CheckedScope, checkScope } from './scope-check.ts';
import { drainScope, listScope } from './scope-reader.ts';
import { summarizeState } from './state-summary.ts';

/** What running an agent once needs. */
export interface AgentRunOptions extends CachingWorkOptions {
  readonly writer: CacheWriter;
}

/** Drains at a time: each is a connection, and mostly waits. */
const drainConcurrency = 16;
/** Lists at a time: after a restart of the API server every kind needs one. */
const listConcurrency = 2;
/** A position that did not move for so long is moved by a bookmark, before the API server forgets it. */
const quietMs = { least: 3 * 60_000, spread: 60_000 } as const;
/** What the lists have come to is stored no more often than this, milliseconds. */
const commitIntervalMs = 2_000;

/**
 * Brings what is cached of an account up to date: asks what changed of each kind since the last run, lists what has no position
 * yet, and evicts what is gone.
 *
 * @throws Error with words for people when the account's cluster cannot be read at all.
 */
export async function runCachingAgent(options: AgentRunOptions, run: CachingRun): Promise<CachingResult> {
  const context: CachingWorkRun = {
    cache: run.cache,
    writer: options.writer,
    state: run.state,
    signal: run.signal,
    ensureHeld: () => run.ensureHeld(),
  };
  const work = await openCachingWork(options, context);
  const first = await new AgentRun(work, options, run).run();
  if (!('proof' in first)) return first;
  const anew = await reopenCachingWork(options, context, { work, ...first });
  const second = await new AgentRun(anew, options, run).run();
  if (!('proof' in second)) return second;
  throw new Error('the cluster went back in time twice during one run');
}

/** What proves that the cluster went back in time, in words for people. */
interface Proof {
  readonly proof: string;
}

class AgentRun {
  readonly #work: CachingWork;
  readonly #clock: Clock;
  readonly #options: AgentRunOptions;
  readonly #run: CachingRun;
  #drift: number | undefined;
  readonly #tried = new Set<string>();
  readonly #broken = new Map<string, Error>();
  /** Scopes that were read as they should be, and that could not be. */
  #read = 0;
  #failed = 0;
  #committedAtMs: number;

  constructor(work: CachingWork, options: AgentRunOptions, run: CachingRun) {
    this.#work = work;
    this.#clock = options.clock;
    this.#options = options;
    this.#run = run;
    this.#committedAtMs = options.clock.monotonic();
  }

  async run(): Promise<CachingResult | Proof> {
    const work = this.#work;
    await work.evictKinds();
    const proof = await this.#drainAll();
    if (proof !== undefined) return { proof };
    const outcome = await this.#listAndCheck();
    if (typeof outcome !== 'string') return outcome;
    await work.prune();
    this.#run.signal.throwIfAborted();
    return { ...work.toProgress(), outcome, drift: this.#drift, ...this.#toComplaints() };
  }

  /** @returns what proves that the cluster went back in time */
  async #drainAll(): Promise<string | undefined> {
    const { tools } = this.#work;
    const nowMs = this.#clock.now();
    const scopes = (await this.#work.planScopes()).filter((scope) => !mustList(scope, nowMs));
    const drained = await mapConcurrently(scopes, drainConcurrency, async (scope) => {
      const awaitsBookmark = isQuiet(scope, nowMs);
      return { scope, awaitsBookmark, ...(await drainScope(scope, tools, awaitsBookmark)) };
    });
    this.#run.signal.throwIfAborted();
    const rewound = drained.find(({ outcome }) => outcome.outcome === 'future');
    if (rewound !== undefined) return toFutureProof(rewound.scope);
    // In one call: what belongs to one application lies together.
    await tools.write(drained.flatMap(({ changes }) => changes));
    for (const { scope, outcome, added, awaitsBookmark } of drained) {
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

  /** What lists have proved, if that is to be believed. */
  #toProof(proof: string | undefined): Proof | undefined {
    const isCredible = isBelievable(this.#work.state.restored, this.#clock.now());
    return proof !== undefined && isCredible ? { proof } : undefined;
  }

  async #listAll(): Promise<CachingResult['outcome'] | Proof> {
    for (;;) {
      const proof = this.#toProof(this.#work.proof);
      if (proof !== undefined) return proof;
      const scopes = (await this.#work.planScopes()).filter((scope) => this.#isToBeListed(scope));
      const { isAlone } = this.#run;
      const allowed = scopes.filter(({ state }) => isAlone || isOnePage(state));
      if (allowed.length === 0) return scopes.length === 0 ? 'done' : 'listing';
      // Pods come last: they stand in the rows of their owners, and would have to wait for these elsewhere.
      const owners = allowed.filter(({ kind }) => kind.kind !== 'pod');
      const wave = owners.length > 0 ? owners : allowed;
      await mapConcurrently(wave, listConcurrency, (scope) => this.#list(scope));
    }
  }

  #isToBeListed(scope: WatchedScope): boolean {
    return mustList(scope, this.#clock.now()) && !this.#tried.has(toScopeKey(scope));
  }

  async #list(scope: WatchedScope): Promise<void> {
    this.#tried.add(toScopeKey(scope));
    const { tools, state } = this.#work;
    state.tooLarge.forgetKind(scope.kind.kind, scope.namespace);
    const select = createPageLimit(this.#work.getRoom(scope));
    const { outcome, items } = await listScope(scope, tools, { select });
    this.#run.signal.throwIfAborted();
    await this.#note(scope, outcome, items);
    await this.#commit();
  }

  /** Stores how far it has come, now and then. */
  async #commit(): Promise<void> {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#committedAtMs < commitIntervalMs) return;
    this.#committedAtMs = nowMs;
    await this.#run.commitState(this.#work.formatState());
  }

  /** Compares all that is cached with the cluster, when it is time for that. */
  async #check(): Promise<CachingResult['outcome'] | Proof> {
    const { state } = this.#work;
    if (state.checkAtMs > this.#clock.now()) return 'done';
    if (!this.#run.isAlone) return 'listing';
    const scopes = (await this.#work.planScopes()).filter((scope) => this.#isToBeChecked(scope));
    const checks = await mapConcurrently(scopes, listConcurrency, (scope) => this.#checkScope(scope));
    this.#run.signal.throwIfAborted();
    // What was kept since another application is known is no mistake of the past.
    if (!isForced(state)) this.#drift = checks.reduce((sum, { drift }) => sum + drift, 0);
    const proof = this.#toProof(checks.map((each) => each.proof).find((each) => each !== undefined));
    if (proof !== undefined) return proof;
    state.checkAtMs = getNextCheckMs(this.#clock, this.#options.randomness);
    if (checks.some(({ isBlocked }) => isBlocked)) await this.#work.raiseEpoch();
    return 'done';
  }

  async #checkScope(scope: WatchedScope): Promise<CheckedScope> {
    const checked = await checkScope(scope, this.#work.tools);
    const { outcome, drained, items } = checked;
    // What was told before the list broke off is cached all the same.
    if (drained?.outcome === 'drained') await this.#note(scope, drained, items);
    else if (outcome.outcome === 'listed') scope.state.items = items;
    else if (outcome.outcome !== 'aborted') await this.#note(scope, outcome, scope.state.items);
    await this.#commit();
    return outcome.outcome === 'listed' ? checked : { ...checked, drift: 0, isBlocked: false };
  }

  #isToBeChecked(scope: WatchedScope): boolean {
    const isListed = this.#tried.has(toScopeKey(scope));
    return !isListed && scope.state.position !== undefined && this.#work.getRoom(scope) === undefined;
  }

  async #note(scope: WatchedScope, outcome: DrainOutcome, items: number): Promise<void> {
    const { state, kind } = scope;
    const { position, asOfMs = state.asOfMs, error } = outcome;
    switch (outcome.outcome) {
      case 'listed':
      case 'drained':
        this.#read += 1;
        return this.#work.noteRead(scope, { position, asOfMs, items });
      case 'forbidden':
        return this.#work.noteForbidden(scope);
      case 'gone':
        return this.#work.noteGone(scope);
      case 'expired':
        state.position = undefined;
        return;
      default:
        // What came before it broke is cached: the next drain goes on from there.
        Object.assign(state, { position, items });
        this.#failed += 1;
        this.#broken.set(kind.kind, error ?? new Error('it broke off'));
    }
  }

  /** A part that cannot be read is shown and keeps nobody waiting; where most of it cannot, the run has failed. */
  #toComplaints(): Pick<CachingResult, 'error' | 'details'> {
    const { kinds, areNamespacesUnknown, state } = this.#work;
    const { forbidden, isAllForbidden } = summarizeState(state, kinds, this.#options.account);
    const broken = joinNames([...this.#broken].map(toText));
    const restored = describeRestoration(state.restored, this.#clock.now());
    const details = state.tooLarge.addTo({
      kinds: kinds.length,
      ...(forbidden.length > 0 && { forbidden: joinNames(forbidden) }),
      ...(areNamespacesUnknown && { namespaces: 'may not be listed, and the account names none' }),
      ...(broken !== '' && { broken }),
      ...(restored !== undefined && { restored }),
    });
    if (this.#failed > this.#read) return { details, error: `could not be read: ${broken}` };
    if (isAllForbidden) return { details, error: `none of the kinds may be read: ${joinNames(forbidden)}` };
    return { details };
  }
}

/** Its server is behind what it told before. */
function toFutureProof({ kind: { kind }, namespace, state: { position } }: WatchedScope): string {
  const where = namespace === '' ? '' : ` in ${namespace}`;
  return `the newest resource version of ${kind}${where} is lower than ${position}, which it had before`;
}

/** Whether the check was not due by its time. */
function isForced({ checkAtMs }: AgentState): boolean {
  return checkAtMs === 0;
}

/** Whether a position did not move for a while; not the same while for all. */
function isQuiet({ state, kind, namespace }: WatchedScope, nowMs: number): boolean {
  const spreadMs = hashText(`${kind.kind} ${namespace}`) % quietMs.spread;
  return nowMs - state.movedAtMs >= quietMs.least + spreadMs;
}

function toScopeKey({ kind, namespace }: WatchedScope): string {
  return `${kind.kind} ${namespace}`;
}

function toText([kind, error]: readonly [string, Error]): string {
  return `${kind}: ${error.message}`;
}

function joinNames(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return (names.length > 10 ? `${shown} and ${names.length - 10} more` : shown).slice(0, 1_000);
}
