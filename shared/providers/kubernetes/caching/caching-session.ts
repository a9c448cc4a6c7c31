import type { CachingResult, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { ObjectHead } from '#caching/store/cache-store.ts';
import { hashText } from '#caching/store/hash-text.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import type { KubernetesClient } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import { hashCacheRules } from '../cache-writer/cache-rules.ts';
import type { CacheWriter, ObjectChange } from '../cache-writer/object-change.ts';
import { readName } from '../manifest/identity.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import {
  type CachingAgentState,
  createCachingAgentState,
  createKindState,
  formatCachingAgentState,
  type KindState,
  parseCachingAgentState,
  type ScopeState,
} from './caching-agent-state.ts';
import { type EpochTools, findEpoch, raiseEpoch, readClusterUid } from './cluster-epoch.ts';
import { getNextCheckMs, takeUpDemand } from './comparison.ts';
import { isCustomKind, type KindFamily } from './kind-families.ts';
import { findKindLimit, limitChanges } from './kind-limits.ts';
import { forbiddenRetryMs, isNarrow, planScopes, type WatchedScope } from './kind-scopes.ts';
import { ObjectConversion } from './object-conversion.ts';
import { evict, type ScopeTools, type ScopeWrite } from './scope-reader.ts';
import { selectNamespaces } from './select-namespaces.ts';
import { summarizeState } from './state-summary.ts';
import { selectWatchedKinds, type WatchedKind } from './watched-kinds.ts';

/** The parts of a caching agent, for all of its runs. */
export interface CachingSessionOptions {
  readonly account: KubernetesAccount;
  readonly settings: CacheSettings;
  readonly family: KindFamily;
  /** Whether the account has a caching agent for custom kinds; otherwise the other one evicts their cached objects. */
  readonly hasCustomAgent: boolean;
  /** Reads single objects and the kinds that the cluster serves. */
  readonly client: KubernetesClient;
  readonly writer: CacheWriter;
  /** Lists and watches. */
  readonly watches: WatchClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /**
   * Front50's applications, in lower case; given if only their objects are cached.
   *
   * @throws Error when they are unknown.
   */
  readonly loadApplications?: (() => Promise<ReadonlySet<string>>) | undefined;
  /** Limits the lists of this process. Default: no limit. */
  readonly limitLists?: ConcurrencyLimit | undefined;
}

/** The part of a run, or of a watch, that a session uses. */
export type CachingSessionRun = Pick<CachingRun, 'cache' | 'state' | 'signal' | 'ensureHeld'>;

/** Milliseconds between a removal and the check of the directory: writers need 5 minutes to notice names. */
const pruneDelayMs = 5 * 60_000 + 10_000;

/**
 * Finds out what to do: the current epoch, the kinds to cache, and the state of an earlier run, if it has the same epoch and the same
 * rules.
 *
 * @throws Error with a readable message when the account's cluster cannot be reached.
 */
export async function openCachingSession(
  options: CachingSessionOptions,
  run: CachingSessionRun,
): Promise<CachingSession> {
  const { account, settings, client, clock } = options;
  const known = parseCachingAgentState(run.state);
  const read = await readClusterUid(client, run.signal);
  const cluster = read || (known?.cluster ?? '');
  const tools = { account: account.name, cache: run.cache, clock };
  const rules = hashCacheRules(account, settings);
  const found = await findEpoch(tools, read, known?.cluster ?? '');
  const isListedAnew = known?.epoch !== found.epoch || known.rules !== rules;
  const hasOtherRules = known?.epoch === found.epoch && known.rules !== rules;
  // Only a list in a new epoch overwrites what another release wrote.
  const isDamaged = !isListedAnew && run.cache.takeUnreadable(account.name);
  const current =
    hasOtherRules || isDamaged ? await raiseEpoch(tools, { ...found, identity: cluster }) : found;
  const { epoch } = current;
  const isUsable = known?.epoch === epoch && known.rules === rules;
  const state = isUsable ? known : toNewState(options, { known, epoch, rules });
  state.cluster = cluster;
  takeUpDemand(state, current, clock);
  return createAgentSession(options, run, state);
}

/**
 * Begins another epoch: the cluster is not the same as before, and everything must be listed again.
 *
 * @param how.proof readable proof that the cluster went back in time.
 */
export async function reopenCachingSession(
  options: CachingSessionOptions,
  run: CachingSessionRun,
  { session, proof }: { readonly session: CachingSession; readonly proof: string },
): Promise<CachingSession> {
  const { epoch, rules, cluster } = session.state;
  const tools: EpochTools = { account: options.account.name, cache: run.cache, clock: options.clock };
  const raised = await raiseEpoch(tools, { epoch, identity: cluster });
  const state = toNewState(options, { known: session.state, epoch: raised.epoch, rules });
  state.restored = { atMs: options.clock.now(), proof };
  takeUpDemand(state, raised, options.clock);
  return createAgentSession(options, run, state);
}

function toNewState(
  { clock, randomness }: CachingSessionOptions,
  { known, epoch, rules }: { known: CachingAgentState | undefined; epoch: number; rules: string },
): CachingAgentState {
  const checkAtMs = getNextCheckMs(clock, randomness);
  const state = createCachingAgentState({ epoch, rules, cluster: known?.cluster ?? '', checkAtMs });
  state.restored = known?.restored;
  for (const [application, dueMs] of known?.waiting ?? []) state.waiting.set(application, dueMs);
  return state;
}

async function createAgentSession(
  options: CachingSessionOptions,
  run: CachingSessionRun,
  state: CachingAgentState,
): Promise<CachingSession> {
  const { signal } = run;
  const [kinds, applications] = await Promise.all([
    selectWatchedKinds({ ...options, signal }, options.family),
    options.loadApplications?.(),
  ]);
  return new CachingSession(options, run, { state, kinds, applications });
}

/** The findings of a session at its start. */
interface SessionStart {
  readonly state: CachingAgentState;
  readonly kinds: readonly WatchedKind[];
  readonly applications: ReadonlySet<string> | undefined;
}

/**
 * A caching agent at work: what it watches, what it knows, and how changes get into the cache. Runs and watchers differ only in how they
 * receive changes.
 */
export class CachingSession {
  readonly kinds: readonly WatchedKind[];
  readonly state: CachingAgentState;
  readonly tools: ScopeTools;
  /** Objects that this session put or removed. */
  changes = 0;
  /** What a list proved: see `findProof`. */
  proof: string | undefined;
  /** Whether nothing was known of the account: everything is listed, and overwrites what another release left. */
  readonly isNew: boolean;
  /** Whether namespaces must be read one by one and the account may not list them. */
  areNamespacesUnknown = false;
  readonly #options: CachingSessionOptions;
  readonly #run: CachingSessionRun;
  #namespaces: Promise<readonly string[] | undefined> | undefined;

  constructor(options: CachingSessionOptions, run: CachingSessionRun, start: SessionStart) {
    const { account, watches, clock } = options;
    const { cache, signal } = run;
    const { state, kinds, applications } = start;
    this.#options = options;
    this.#run = run;
    this.kinds = kinds;
    this.state = state;
    this.isNew = state.kinds.size === 0;
    const conversion = new ObjectConversion({
      account,
      epoch: state.epoch,
      kinds,
      isKnownApplication: applications && ((name) => applications.has(name.toLowerCase())),
    });
    const write: ScopeTools['write'] = (changes, how) => this.#write(changes, how);
    this.#recordApplications(applications);
    this.tools = { account: account.name, cache, watches, clock, signal, conversion, write };
  }

  /** What to read now: see `planScopes`. Evicts cached objects of deleted namespaces. */
  async planScopes(): Promise<WatchedScope[]> {
    const { account, clock } = this.#options;
    const scopes: WatchedScope[] = [];
    for (const kind of this.kinds) {
      const kindState = this.#getKindState(kind);
      const narrow = isNarrow(kind, kindState, account);
      if (narrow) this.#namespaces ??= this.#readNamespaces();
      const namespaces = narrow ? await this.#namespaces : undefined;
      if (narrow && namespaces !== undefined) await this.#sweepNamespaces(kind, kindState, namespaces);
      scopes.push(...planScopes(kind, kindState, { account, namespaces, nowMs: clock.now() }));
    }
    return scopes;
  }

  /** Evicts cached objects of kinds that are unwanted, or that the cluster does not have. */
  async evictKinds(): Promise<void> {
    const { state, kinds } = this;
    const { account, family, hasCustomAgent } = this.#options;
    const isOurs = (kind: string): boolean => isCustomKind(kind) === (family === 'custom') || !hasCustomAgent;
    const cached = state.isSwept ? [] : (await this.#run.cache.listKinds(account.name)).filter(isOurs);
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
  getRemainingQuota({ kind: { kind }, kindState, namespace }: WatchedScope): number | undefined {
    const most = findKindLimit(this.#options.account.caching.policies, kind);
    if (most === undefined || namespace === '') return most;
    const others = [...kindState.scopes].filter(([other]) => other !== '' && other !== namespace);
    return Math.max(
      0,
      others.reduce((left, [, { items }]) => left - items, most),
    );
  }

  /** Begins another epoch for the next run, which lists everything again. */
  async raiseEpoch(): Promise<void> {
    const { account, clock } = this.#options;
    const { epoch, cluster: identity } = this.state;
    await raiseEpoch({ account: account.name, cache: this.#run.cache, clock }, { epoch, identity });
  }

  /** Notes that a scope was brought up to date, and that it may be read. */
  recordRead({ state, kindState, namespace }: WatchedScope, read: Partial<ScopeState>): void {
    const { clock } = this.#options;
    if (read.resourceVersion !== state.resourceVersion) state.movedAtMs = clock.now();
    Object.assign(state, read);
    state.forbiddenAtMs = undefined;
    state.goneAtMs = undefined;
    if (namespace !== '' || kindState.wideAtMs === undefined) return;
    kindState.wideAtMs = undefined;
    for (const narrow of [...kindState.scopes.keys()]) if (narrow !== '') kindState.scopes.delete(narrow);
  }

  /** Notes that a scope may not be read, or may not be watched. Its cached objects stay as they are. */
  async recordForbidden(scope: WatchedScope): Promise<void> {
    const { state, kind, kindState, namespace } = scope;
    const nowMs = this.#options.clock.now();
    if (state.resourceVersion !== undefined && (await this.#canList(scope))) {
      state.unwatchableAtMs = nowMs;
      return;
    }
    state.forbiddenAtMs = nowMs;
    if (namespace !== '' || !kind.resource.namespaced) return;
    if (kindState.wideAtMs === undefined) kindState.isSwept = false;
    kindState.wideAtMs = nowMs + forbiddenRetryMs.cluster;
  }

  /**
   * Notes that the server does not serve a kind. Cached objects of a built-in kind are then evicted, unless the server's discovery lists
   * the kind; a custom kind's go with its definition.
   */
  async recordDeletion({ state, kind: { kind, resource } }: WatchedScope): Promise<void> {
    state.resourceVersion = undefined;
    if (isCustomKind(kind) || !resource.apiVersion.includes('/')) return;
    const { watches, signal, clock } = this.tools;
    const served = await watches.listResources({ signal });
    const isServed = served.some(
      (each) => each.resource.apiVersion === resource.apiVersion && each.resource.kind === resource.kind,
    );
    if (isServed) return;
    if (state.asOfMs !== undefined) await this.evictKind(kind);
    Object.assign(state, { asOfMs: undefined, items: 0, goneAtMs: clock.now() });
  }

  /** Checks applications from which something was removed a while ago, and removes from the directory what they lost. */
  async prune(): Promise<void> {
    const nowMs = this.#options.clock.now();
    const { waiting } = this.state;
    const due = [...waiting].filter(([, dueMs]) => dueMs <= nowMs).map(([application]) => application);
    if (due.length === 0) return;
    const left = await this.#options.writer.prune(due);
    for (const application of due) {
      waiting.delete(application);
      this.state.tooLarge.forgetApplication(application);
    }
    this.#recordOrphanedPods(left);
  }

  /** The progress so far. */
  toProgress(): Omit<CachingResult, 'outcome'> {
    const { items, asOfMs } = summarizeState(this.state, this.kinds, this.#options.account);
    return { state: formatCachingAgentState(this.state), items, changes: this.changes, asOfMs };
  }

  async #canList({ kind: { resource }, namespace }: WatchedScope): Promise<boolean> {
    const { watches, signal } = this.tools;
    try {
      await watches.readResourceVersion({ resource, namespace: namespace || undefined }, { signal });
      return true;
    } catch (error) {
      if (error instanceof KubernetesApiError) return false;
      throw error;
    }
  }

  #getKindState({ kind }: WatchedKind): KindState {
    return getOrAdd(this.state.kinds, kind, createKindState);
  }

  /** The existing namespaces that the account may use; undefined if it may not list them. */
  async #readNamespaces(): Promise<readonly string[] | undefined> {
    const { account, client } = this.#options;
    const { signal } = this.#run;
    if (account.namespaces.length > 0) return account.namespaces;
    try {
      const resource = await client.getResource('v1', 'Namespace', { signal });
      const namespaces = await client.list({ resource, metadataOnly: true }, { signal });
      return selectNamespaces(namespaces.map(readName), account);
    } catch (error) {
      if (!(error instanceof KubernetesApiError && error.status === 403)) throw error;
      this.areNamespacesUnknown = true;
      return undefined;
    }
  }

  /** Evicts cached objects of namespaces that are gone or not read any more. */
  async #sweepNamespaces(
    { kind }: WatchedKind,
    kindState: KindState,
    namespaces: readonly string[],
  ): Promise<void> {
    const wanted = new Set(namespaces);
    const { scopes } = kindState;
    const gone = [...scopes.keys()].filter((namespace) => namespace !== '' && !wanted.has(namespace));
    if (gone.length > 0) kindState.isSwept = false;
    if (kindState.isSwept) return;
    const isGone = ({ key }: Pick<ObjectHead, 'key'>): boolean => !wanted.has(key.location);
    await evict(this.tools, { kind, findEviction: (head) => (isGone(head) ? head.revision : undefined) });
    for (const namespace of gone) scopes.delete(namespace);
    kindState.isSwept = true;
  }

  async #write(changes: readonly ObjectChange[], { isListed = false }: ScopeWrite = {}): Promise<void> {
    if (changes.length === 0) return;
    const { cache } = this.#run;
    const { account, writer } = this.#options;
    const { policies } = account.caching;
    const limited = isListed
      ? changes
      : await limitChanges(changes, { account: account.name, cache, policies });
    if (limited.length === 0) return;
    const outcome = await writer.write(limited, { ensureHeld: () => this.#run.ensureHeld() });
    this.changes += outcome.changes;
    if (isListed) this.proof ??= outcome.proof;
    this.state.tooLarge.recordWritten(limited, outcome.dropped);
    this.#recordOrphanedPods(outcome.waiting);
  }

  /** Where Front50 decides what is kept, a new application's objects are searched for at once. */
  #recordApplications(applications: ReadonlySet<string> | undefined): void {
    const told = applications === undefined ? '' : hashText([...applications].sort().join(' ')).toString(36);
    if (this.state.applications !== '' && told !== this.state.applications) this.state.checkAtMs = 0;
    this.state.applications = told;
  }

  #recordOrphanedPods(applications: readonly string[]): void {
    const { waiting } = this.state;
    const dueMs = this.#options.clock.now() + pruneDelayMs;
    // An application that waits already is not postponed: its check finds that what it lost since then is too recent.
    for (const application of applications) {
      if (!waiting.has(application)) waiting.set(application, dueMs);
    }
  }
}
