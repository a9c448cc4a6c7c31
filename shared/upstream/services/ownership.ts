import type { Clock, Randomness } from '#core/clock.ts';
import { InvalidInputError, UnavailableError } from '#core/errors.ts';
import { operationsMax } from '#core/request-limits.ts';
import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { isFinished, type TaskStore } from '#tasks/task.ts';
import { getTaskId } from '#tasks/task-id.ts';
import {
  type AccountOwner,
  findOwnerChange,
  isWanted,
  type OwnerStore,
  type SeenOwner,
  type Side,
} from '../account-owner.ts';
import { createOwnerStore } from '../aws/owner-store.ts';

/** Milliseconds for which operations wait while their account changes hands. */
export const ownerWaitMs = 60_000;

/** Milliseconds between two looks. */
const lookMs = 250;

/** Characters of an account's name. */
const accountNameMax = 253;

/** Accounts of which a process remembers what it saw. */
const seenMax = 10_000;

/** Rows read at a time of the list of open tasks. */
const openRowsAtATime = 200;

/** What operations ask for. */
export interface OwnershipRequest {
  /** Each once. */
  readonly accounts: readonly string[];
  /** Their `clientRequestId`; empty without one. */
  readonly requestId: string;
  /** Milliseconds to wait at most. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The owner by the settings of this process. */
  findWanted(account: string): Side;
  /** Whether this process knows an account, and could run its operations. */
  isKnown(account: string): boolean;
  /** Whether a task upstream has ended. @throws UnavailableError where that cannot be known */
  hasEnded(taskId: string): Promise<boolean>;
}

/** Accounts that keep their owners until the operations that entered are begun, and upstream until they have ended. */
export interface Entry {
  findOwner(account: string): Side;
  /** They have become a task upstream. */
  noteTask(taskId: string): Promise<void>;
  /** They were not begun, or they are stored as a task of ours. */
  leave(): Promise<void>;
}

/** Decides which side runs operations, so that an account never has two: see {@link Ownership.enter}. */
export class Ownership {
  readonly #store: OwnerStore;
  readonly #tasks: Pick<TaskStore, 'find' | 'listOpen'>;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #seen = new Map<string, SeenOwner>();

  constructor(parts: {
    readonly store: OwnerStore;
    readonly tasks: Pick<TaskStore, 'find' | 'listOpen'>;
    readonly clock: Clock;
    readonly randomness: Randomness;
  }) {
    this.#store = parts.store;
    this.#tasks = parts.tasks;
    this.#clock = parts.clock;
    this.#randomness = parts.randomness;
  }

  /** The accounts of a task upstream, where this side had it started within a day. */
  findTaskAccounts(taskId: string): Promise<readonly string[] | undefined> {
    return this.#store.findTaskAccounts(taskId);
  }

  /**
   * Waits until no account changes hands, and notes that operations begin. They are noted first, and the owners read after it: so a process
   * that changes an owner sees them, or they see the change.
   *
   * @throws InvalidInputError for names that no account has; UnavailableError where an account still changes hands after `waitMs`
   */
  async enter(request: OwnershipRequest): Promise<Entry> {
    checkNames(request.accounts);
    const untilMs = this.#clock.monotonic() + request.waitMs;
    for (;;) {
      const owners = await this.#settleAll(request);
      const waiting = request.accounts.find((account) => !isReady(owners, account, request));
      const entry = waiting === undefined ? await this.#tryEnter(owners, request) : undefined;
      if (entry !== undefined) return entry;
      if (this.#clock.monotonic() >= untilMs) throw toWaitError(waiting ?? request.accounts[0] ?? '');
      await this.#clock.sleep(lookMs, request.signal);
    }
  }

  async #settleAll(request: OwnershipRequest): Promise<ReadonlyMap<string, AccountOwner>> {
    const owners = new Map<string, AccountOwner>();
    for (const account of request.accounts) {
      const owner = await this.#settle(account, request);
      if (owner !== undefined) owners.set(account, owner);
    }
    return owners;
  }

  /** The stored owner, changed as far as it can be; undefined where another process was faster. */
  async #settle(account: string, request: OwnershipRequest): Promise<AccountOwner | undefined> {
    const wanted = request.findWanted(account);
    const seen = await this.#store.find(account);
    const change = findOwnerChange(seen, { wanted, seen: this.#seen.get(account), nowMs: this.#clock.now() });
    const stored = change ? await this.#store.replace(account, { seen, next: change }) : seen;
    if (stored === undefined) return undefined;
    this.#remember(account, wanted, stored);
    const { next } = stored;
    if (next === undefined || !(await this.#isIdle(account, stored.owner, request))) return stored;
    return this.#store.replace(account, { seen: stored, next: { owner: next } });
  }

  #remember(account: string, wanted: Side, stored: AccountOwner): void {
    const former = this.#seen.get(account);
    this.#seen.delete(account);
    if (isWanted(stored, wanted)) this.#seen.set(account, { wanted, version: stored.version });
    else if (former) this.#seen.set(account, { disagreesSinceMs: this.#clock.now(), ...former });
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined && this.#seen.size > seenMax) this.#seen.delete(oldest);
  }

  /** Whether nothing runs any more that the owner accepted. What ours are noted for is stored before it is forgotten: it is read last. */
  async #isIdle(account: string, owner: Side, { hasEnded }: OwnershipRequest): Promise<boolean> {
    for (const { id, side, taskId } of await this.#store.list(account)) {
      if (side !== owner) continue;
      if (taskId === undefined || !(await hasEnded(taskId))) return false;
      await this.#store.forget(account, id);
    }
    return owner === 'theirs' || !(await this.#hasOpenTask(account));
  }

  async #hasOpenTask(account: string): Promise<boolean> {
    let after: string | undefined;
    for (;;) {
      const rows = await this.#tasks.listOpen(openRowsAtATime, after);
      for (const { taskId } of rows) {
        const task = await this.#tasks.find(taskId);
        if (task !== undefined && !isFinished(task) && task.accounts.includes(account)) return true;
      }
      after = rows.at(-1)?.key;
      if (rows.length < openRowsAtATime) return false;
    }
  }

  async #tryEnter(
    owners: ReadonlyMap<string, AccountOwner>,
    { accounts, requestId }: OwnershipRequest,
  ): Promise<Entry | undefined> {
    const sideOf = (account: string): Side => owners.get(account)?.owner ?? 'ours';
    // A repeated request may be the same task upstream; here it is noted only while it is accepted.
    const isForeign = accounts.every((account) => sideOf(account) === 'theirs');
    const id = isForeign ? await getTaskId(requestId, this.#randomness) : this.#randomness.id();
    const noted: string[] = [];
    for (const account of accounts) {
      if (await this.#store.note(account, { id, side: sideOf(account) })) noted.push(account);
    }
    const leave = async () => void (await Promise.all(noted.map((each) => this.#store.forget(each, id))));
    for (const account of accounts) {
      if ((await this.#store.find(account))?.version === owners.get(account)?.version) continue;
      await leave();
      return undefined;
    }
    const noteTask = (taskId: string) => this.#store.noteTask(accounts, { id, side: 'theirs', taskId });
    return { findOwner: sideOf, noteTask, leave };
  }
}

function isReady(
  owners: ReadonlyMap<string, AccountOwner>,
  account: string,
  { isKnown }: OwnershipRequest,
): boolean {
  const stored = owners.get(account);
  if (stored === undefined || stored.next !== undefined) return false;
  return stored.owner === 'theirs' || isKnown(account);
}

function checkNames(accounts: readonly string[]): void {
  if (accounts.length > operationsMax)
    throw new InvalidInputError(
      `The body names ${accounts.length} accounts: at most ${operationsMax} are accepted`,
    );
  const long = accounts.find((name) => name.length > accountNameMax);
  if (long === undefined) return;
  throw new InvalidInputError(
    `account: expected at most ${accountNameMax} characters, not ${long.length}: ${long.slice(0, 100)}…`,
  );
}

function toWaitError(account: string): UnavailableError {
  return new UnavailableError(
    `Account '${account}' is changing between Busdriver and the Clouddriver upstream: it waits until all operations have ended that ` +
      'either has begun. Try again',
  );
}

/** The owners of the installation's accounts. */
export function openOwnership(services: Services): Ownership {
  return services.get(createOwnership);
}

function createOwnership(services: Services): Ownership {
  const { store: tasks, clock, randomness } = openTasks(services);
  return new Ownership({ store: createOwnerStore(openTable(services, 'tasks')), tasks, clock, randomness });
}
