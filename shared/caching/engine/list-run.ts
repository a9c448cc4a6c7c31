import type { Clock } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { FailedOperationError, getErrorMessage, VisibleError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import type { CachingResult, CachingRun } from '../scheduling/caching-agent.ts';
import { getObjectName, type NamedObject } from '../store/object-names.ts';
import { type Revision, toRevision } from '../store/revision.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import type { CacheWriter, ObjectChange } from '../writer/object-change.ts';
import {
  createListState,
  formatListState,
  type ListState,
  parseListState,
  type ScopeMemory,
  toDigest,
} from './list-state.ts';
import { TooLargeNames } from './too-large.ts';
import { pruneWaiting, recordWaiting } from './waiting.ts';

/** The most scopes of an account whose runs share a worker with other accounts. */
export const sharedScopesMax = 200;

/** The most names of broken scopes that a run reports. */
const brokenToldMax = 5;

/** Such objects have one epoch for ever: whatever is read later is newer. */
const epoch = 1;

/** An object that was listed. */
export interface ListedObject<Facts> {
  /** Default: the scope. */
  readonly location?: string;
  readonly name: string;
  readonly facts: Facts;
}

/** What a list found. */
export interface ListedScope<Facts> {
  /** All objects of the scope. */
  readonly objects: readonly ListedObject<Facts>[];
  /** How many they are for people. Default: the number of objects. */
  readonly items?: number;
  /** What the next run is to know of the scope. Default: a digest of the objects, by which it knows that nothing has changed. */
  readonly memory?: JsonValue;
  /** Whether the next run must find out more before the cache is complete. Default: false. */
  readonly isPartial?: boolean;
}

/** What is known of a scope that is listed. */
export interface KnownScope {
  /** What the last list left; undefined for a scope that is new. */
  readonly memory: JsonValue | undefined;
  /** Whether it was chosen by `listAgain`. */
  readonly isAgain: boolean;
  /** The revision of what is found. */
  readonly revision: Revision;
}

/** What a run has to list. */
export interface ListPlan {
  /** All scopes that exist. What is cached of others is evicted. */
  readonly scopes: readonly string[];
  /** What is known of scopes, if that is not what the last run left. */
  readonly known?: ReadonlyMap<string, ScopeMemory>;
}

/**
 * Objects of one kind on a platform that can only be listed, scope by scope (a region, a repository), and whose objects have no versions: of
 * two reads the later one is right.
 */
export interface ListedPlatform<Facts> {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  /** What a scope is, for messages: `region`. */
  readonly scopeName: string;
  /** Scopes that are listed at a time. */
  readonly concurrency: number;
  /** @param known what the last run left; undefined if that is lost @throws VisibleError when scopes are unknown: nothing is evicted then */
  plan(known: ReadonlyMap<string, ScopeMemory> | undefined, signal: AbortSignal): Promise<ListPlan>;
  /** Lists a scope; undefined if there is none. @throws VisibleError when it cannot be read: what is cached of it stays */
  list(
    scope: string,
    known: KnownScope,
    signal: AbortSignal,
  ): Promise<ListedScope<Facts> | 'unchanged' | undefined>;
  /** Scopes to list once more when all are listed, in that order. Default: none. */
  listAgain?(known: ReadonlyMap<string, ScopeMemory>): readonly string[];
  /** The cached objects of a scope. Default: those of the kind at the location that the scope names. */
  findCached?(scope: string, memory: JsonValue | undefined): readonly Omit<NamedObject, 'kind'>[];
}

/** The parts of a caching agent of such a platform. */
export interface ListAgentOptions<Facts> {
  /** Name of the account. */
  readonly account: string;
  readonly platform: ListedPlatform<Facts>;
  /** With timed positions. */
  readonly model: CacheModel<Facts>;
  readonly writer: CacheWriter<Facts>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Brings the cache of an account up to date: lists each scope, writes what has changed, and evicts what is gone. What cannot be read stays,
 * and is reported.
 *
 * @throws VisibleError if the scopes are unknown, or none can be read: nothing is evicted then
 */
export async function runListAgent<Facts>(
  options: ListAgentOptions<Facts>,
  run: CachingRun,
): Promise<CachingResult> {
  const last = parseListState(run.state);
  // Everything must be read: too much to do beside other runs.
  if (last === undefined && !run.isAlone) return toListing(run, 0);
  const plan = await options.platform.plan(last?.scopes, run.signal);
  if (plan.scopes.length > sharedScopesMax && !run.isAlone) return toListing(run, plan.scopes.length);
  return new ListRun(options, run, last).run(plan);
}

function toListing({ state = '' }: CachingRun, items: number): CachingResult {
  return { outcome: 'listing', state, items, changes: 0 };
}

/**
 * Brings the cache of one scope up to date, even beside a run: the later read wins.
 *
 * @param known what is known of the scope
 * @returns how many objects were put or removed
 * @throws VisibleError if the scope cannot be read
 */
export async function updateScope<Facts>(
  options: ListAgentOptions<Facts>,
  known: { readonly scope: string; readonly memory: JsonValue },
  { cache, signal }: Pick<CachingRun, 'cache' | 'signal'>,
): Promise<number> {
  const held = { ensureHeld: () => signal.throwIfAborted(), commitState: async () => undefined };
  const run = new ListRun(options, { cache, signal, isAlone: true, state: undefined, ...held }, undefined);
  await run.update(known.scope, { items: 0, memory: known.memory }, false);
  return run.changes;
}

class ListRun<Facts> {
  /** Objects that were put or removed. */
  changes = 0;
  readonly #options: ListAgentOptions<Facts>;
  readonly #run: CachingRun;
  readonly #last: ListState | undefined;
  readonly #startedAtMs: number;
  readonly #revision: Revision;
  readonly #next: ListState;
  readonly #broken = new Map<string, VisibleError>();
  readonly #tooLarge = new TooLargeNames();
  #isPartial = false;

  constructor(options: ListAgentOptions<Facts>, run: CachingRun, last: ListState | undefined) {
    this.#options = options;
    this.#run = run;
    this.#startedAtMs = options.clock.now();
    this.#revision = toRevision(epoch, String(this.#startedAtMs));
    this.#next = createListState(last, this.#startedAtMs);
    this.#last = last;
  }

  async run({ scopes, known = this.#last?.scopes ?? new Map() }: ListPlan): Promise<CachingResult> {
    const { platform } = this.#options;
    await this.#forEach(scopes, (scope) => this.update(scope, known.get(scope), false));
    if (scopes.length > 0 && this.#broken.size === scopes.length) {
      const [cause] = this.#broken.values();
      const problem = `no ${platform.scopeName} can be read: ${getErrorMessage(cause)}`;
      throw new FailedOperationError(problem, { cause });
    }
    const wanted = new Set(scopes);
    for (const [scope, { memory }] of known) if (!wanted.has(scope)) await this.#write(scope, memory, []);
    const again = platform.listAgain?.(this.#next.scopes).filter((scope) => !this.#broken.has(scope)) ?? [];
    await this.#forEach(again, (scope) => this.update(scope, this.#next.scopes.get(scope), true));
    await pruneWaiting(this.#next.waiting, this.#options.writer, this.#options.clock.now());
    return this.#toResult();
  }

  /** A failure for one scope does not affect others, and its cache stays. */
  async #forEach(scopes: readonly string[], act: (scope: string) => Promise<void>): Promise<void> {
    const { signal } = this.#run;
    await forEachConcurrently(scopes, this.#options.platform.concurrency, async (scope) => {
      try {
        signal.throwIfAborted();
        await act(scope);
      } catch (error) {
        if (signal.aborted || !(error instanceof VisibleError)) throw error;
        this.#broken.set(scope, error);
      }
    });
  }

  async update(scope: string, known: ScopeMemory | undefined, isAgain: boolean): Promise<void> {
    const { platform, model } = this.#options;
    const { scopes } = this.#next;
    // It stays if the scope cannot be read.
    if (known !== undefined) scopes.set(scope, known);
    const memory = known?.memory;
    const listed = await platform.list(
      scope,
      { memory, isAgain, revision: this.#revision },
      this.#run.signal,
    );
    if (listed === 'unchanged') return;
    if (listed === undefined) {
      await this.#write(scope, memory, []);
      scopes.delete(scope);
      return;
    }
    const { objects, items = objects.length, isPartial = false } = listed;
    const digest = listed.memory === undefined ? toDigest(objects, model) : undefined;
    // Others may have written what this list does not know of: all is compared now and then.
    const isCompared = this.#next.comparedAtMs === this.#startedAtMs;
    const isSame = digest !== undefined && digest === memory && !isCompared;
    if (!isSame) await this.#write(scope, memory, objects);
    this.#isPartial ||= isPartial;
    scopes.set(scope, { items, memory: listed.memory ?? digest ?? null });
  }

  /** Writes what differs from the cache, and evicts the other objects of the scope. */
  async #write(
    scope: string,
    memory: JsonValue | undefined,
    objects: readonly ListedObject<Facts>[],
  ): Promise<void> {
    const { platform, writer } = this.#options;
    const { kind } = platform;
    const found = { revision: this.#revision, seenAt: this.#revision };
    const changes = objects.map(
      ({ location = scope, name, facts }): ObjectChange<Facts> => ({ kind, location, name, ...found, facts }),
    );
    const kept = new Set(changes.map(getObjectName));
    for (const object of await this.#findCached(scope, memory)) {
      const gone = { kind, ...object, ...found, facts: undefined };
      if (!kept.has(getObjectName(gone))) changes.push(gone);
    }
    if (changes.length === 0) return;
    const outcome = await writer.write(changes, { ensureHeld: () => this.#run.ensureHeld() });
    this.changes += outcome.changes;
    this.#tooLarge.recordWritten([], outcome.dropped);
    recordWaiting(this.#next.waiting, outcome.waiting, this.#options.clock.now());
  }

  async #findCached(
    scope: string,
    memory: JsonValue | undefined,
  ): Promise<readonly Omit<NamedObject, 'kind'>[]> {
    const { platform, account } = this.#options;
    if (platform.findCached !== undefined) return platform.findCached(scope, memory);
    const heads = await Array.fromAsync(
      this.#run.cache.listHeads(account, platform.kind, { location: scope }),
    );
    return heads.flat().map(({ key: { location, name } }) => ({ location, name }));
  }

  #toResult(): CachingResult {
    const broken = [...this.#broken];
    const told = broken.slice(0, brokenToldMax).map(([scope, { message }]) => `${scope} (${message})`);
    const more = broken.length - told.length;
    const names = `${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const details = this.#tooLarge.addTo(told.length > 0 ? { broken: names } : {});
    return {
      outcome: 'done',
      state: formatListState(this.#next),
      items: [...this.#next.scopes.values()].reduce((sum, { items }) => sum + items, 0),
      changes: this.changes,
      // If a scope could not be read, or not completely, the cache is not complete as of now.
      asOfMs: broken.length === 0 && !this.#isPartial ? this.#startedAtMs : undefined,
      ...(Object.keys(details).length > 0 && { details }),
    };
  }
}
