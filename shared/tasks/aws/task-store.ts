import { type Clock, type Randomness, toSeconds } from '#core/clock.ts';
import { UnavailableError } from '#core/errors.ts';
import { writeChunks } from '#platform/aws/chunks.ts';
import { MalformedItemError } from '#platform/aws/item-reader.ts';
import { type ItemTable, ItemUpdate } from '#platform/aws/table.ts';
import { journalFormat } from '../journal-format.ts';
import {
  type Commit,
  isLeased,
  type JournalEntry,
  type Lease,
  type LeasedTask,
  LeaseLostError,
  leaseDurationMs,
  type NewTask,
  type OpenRow,
  type Submission,
  type SubmittedOperation,
  staleRowAgeMs,
  type TakeLeaseOptions,
  type Task,
  TaskCancelledError,
  type TaskInbox,
  type TaskStatus,
  type TaskStore,
  taskRetentionMs,
  toCancelledEntry,
} from '../task.ts';
import { deleteInboxRow, putInboxRow } from './inbox-store.ts';
import { getLeaseUntil, isProgress, requireFormat } from './lease-updates.ts';
import { toNewHeader } from './new-header.ts';
import { listOpenRows } from './open-rows.ts';
import { getFirstInbox, type Handover, prepareHandover } from './task-handover.ts';
import {
  getChunkKey,
  getHeaderKey,
  getOpenRowKey,
  getSpillKey,
  getTaskKey,
  type HeaderItem,
  inlineJournalMax,
  isSpillKey,
  parseHeader,
  parseOpenRow,
  parseTask,
  toOpenRowKey,
  toStatus,
} from './task-items.ts';
import { putListRow, type RowTask } from './task-list.ts';
import { readPayload, removePayload, writePayload } from './task-payload.ts';
import { toRestart } from './task-restart.ts';
import { readJournal } from './task-spills.ts';

interface TaskStoreOptions {
  readonly table: ItemTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Has the clock learn the store's time, unless it knows it: leases depend on it. Default: the clock knows it. */
  learnTime?(): Promise<void>;
}

/** Tasks in DynamoDB, by single-item conditional writes and without an index. */
export class DynamoTaskStore implements TaskStore {
  readonly #table: ItemTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #learnTime: () => Promise<void>;

  constructor(options: TaskStoreOptions) {
    this.#table = options.table;
    this.#clock = options.clock;
    this.#randomness = options.randomness;
    this.#learnTime = options.learnTime ?? (async () => undefined);
  }

  async accept(task: NewTask): Promise<{ task: Task; accepted: boolean }> {
    const acceptedAt = this.#clock.now();
    const openRow = getOpenRowKey(task.id, { acceptedAtMs: acceptedAt, random: this.#randomness.id() });
    const payload = await this.#writePayload(task.operations);
    const header = toNewHeader(task, { acceptedAt, openRow, payload, expiresAt: this.#getExpiry() });
    const row = this.#putRows({ ...task, openRow, journal: [task.entry] });
    // An agent finds a task only by its row in the inbox.
    if (task.inbox !== undefined) await row;
    // The answer waits for both; a caller that gets no answer posts again.
    const seconds = toSeconds(this.#clock.now());
    const writes = [this.#table.putNew({ ...header }, seconds), row] as const;
    // Where one fails the other has ended, too: a process that is frozen after its answer does nothing later.
    const [isNew] = await Promise.all(writes).finally(() => Promise.allSettled(writes));
    const winner = isNew ? parseTask(header) : await this.find(task.id);
    if (winner === undefined) throw new Error(`task ${task.id} expired while it was submitted again`);
    // It may have been refused because of our own earlier write, whose answer was lost: no other submission has this row.
    const accepted = winner.openRow === openRow;
    if (accepted) this.#checkOpenRow(acceptedAt);
    else {
      // The first submission may have died before it wrote its row.
      if (winner.state === 'STARTED') await this.#putRows(winner);
      await this.#removeRows(openRow, task.inbox);
      await removePayload(this.#table, payload);
    }
    return { task: winner, accepted };
  }

  async find(id: string): Promise<Task | undefined> {
    const item = await this.#table.get(getHeaderKey(id));
    if (item === undefined) return undefined;
    try {
      return await this.#toTask(parseHeader(item));
    } catch (error) {
      if (!(error instanceof MalformedItemError)) throw error;
      // Loaded late: most functions never meet one.
      const { toUnreadableTask } = await import('./unreadable-task.ts');
      return toUnreadableTask(id, item, error.message);
    }
  }

  async #toTask(header: HeaderItem): Promise<Task | undefined> {
    if (header.expiresAt <= toSeconds(this.#clock.now())) return undefined;
    if (!header.journal.some(isSpillKey)) return parseTask(header);
    // Spills are written before the header that names them, and stay: the header shows all of it as of one moment.
    return parseTask(header, await readJournal(header, await this.#table.query(header.pk)));
  }

  async takeLease(id: string, options: TakeLeaseOptions): Promise<LeasedTask | undefined> {
    await this.#learnTime();
    const validUntil = this.#clock.monotonic() + leaseDurationMs;
    const now = this.#clock.now();
    const leaseUntil = now + leaseDurationMs;
    const update = new ItemUpdate()
      .set({ leaseUntil, ownerId: options.ownerId, sequence: 0 })
      .add('fence', 1)
      .add('attempts', options.attempts)
      .require('state', '=', 'STARTED')
      .requireDue('leaseUntil', now, leaseDurationMs)
      .require('expiresAt', '>', toSeconds(now))
      .requireNone('form')
      .requireNone('cancelledBy')
      .remove('isPutDown');
    requireFormat(update, options.journalFormat ?? journalFormat);
    if (options.agentId !== undefined) update.set({ agentId: options.agentId, takenAt: now });
    // Ending the task, or submitting it again, has also taken the lease away.
    const header = await this.#updateHeader(
      id,
      update,
      (found) => found.ownerId === options.ownerId && found.leaseUntil === leaseUntil,
    );
    if (header === undefined) return undefined;
    const inlineBytes = header.journal.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const lease = { taskId: id, fence: header.fence, sequence: 0, inlineBytes, validUntil };
    const task = header.journal.some(isSpillKey) ? await this.#resolveSpills(header) : parseTask(header);
    if (task === undefined) return undefined;
    return { task, lease, readOperations: () => readPayload(this.#table, header) };
  }

  /** The task of a header that was read; undefined when it has changed hands or ended since. */
  async #resolveSpills(header: HeaderItem): Promise<Task | undefined> {
    const items = await this.#table.query(header.pk);
    const current = items.find((item) => item['sk'] === header.sk);
    if (current?.['fence'] !== header.fence || current['state'] !== header.state) return undefined;
    return parseTask(header, await readJournal(header, items));
  }

  async renewLease(lease: Lease, signal?: AbortSignal): Promise<void> {
    const validUntil = this.#clock.monotonic() + leaseDurationMs;
    const update = new ItemUpdate()
      .set({ leaseUntil: this.#clock.now() + leaseDurationMs })
      .require('state', '=', 'STARTED')
      // A late renewal must not bring back a lease that was given up.
      .require('leaseUntil', '>', 0)
      .require('fence', '=', lease.fence);
    const header = await this.#table.update(getHeaderKey(lease.taskId), update, signal);
    if (header === undefined) throw leaseLost(lease);
    lease.validUntil = Math.max(lease.validUntil, validUntil);
  }

  async commit(lease: Lease, commit: Commit): Promise<void> {
    const validUntil = this.#clock.monotonic() + leaseDurationMs;
    const { entries, bytes } = await this.#storeEntries(lease, commit.entries);
    const handover = commit.next === 'handover' ? await this.#prepareHandover(lease) : undefined;
    const now = this.#clock.now();
    const leaseUntil = getLeaseUntil(commit, now);
    const update = new ItemUpdate()
      .set({ leaseUntil, sequence: lease.sequence + 1 })
      .require('state', '=', 'STARTED')
      .require('fence', '=', lease.fence)
      .require('sequence', '=', lease.sequence);
    if (entries.length > 0) update.append('journal', entries);
    if (isProgress(commit)) update.set({ attempts: 0, expiresAt: this.#getExpiry() });
    // A late renewal must not keep the task from the worker that checks it next.
    if (commit.next === 'wait') update.add('fence', 1).set({ isPutDown: true });
    handover?.apply(update);
    if (commit.told !== undefined) update.set({ told: commit.told });
    if (commit.next === 'COMPLETED' || commit.next === 'FAILED') {
      update.set({ state: commit.next, endedAt: now }).remove('payload');
    }
    const next = lease.sequence + 1;
    const header = await this.#updateHeader(
      lease.taskId,
      update,
      (found) =>
        found.sequence === next &&
        (commit.next === 'wait'
          ? found.fence === lease.fence + 1 && found.leaseUntil === leaseUntil
          : found.fence === lease.fence),
    );
    if (header === undefined) throw leaseLost(lease);
    lease.sequence = next;
    lease.inlineBytes += bytes;
    lease.validUntil = Math.max(lease.validUntil, validUntil);
    await handover?.finish();
    if (header.cancelledBy === undefined || header.state !== 'STARTED') return;
    const task = await this.fail(header.taskId, 'FAILED', toCancelledEntry(header.cancelledBy));
    throw task === undefined ? leaseLost(lease) : new TaskCancelledError(task);
  }

  async #prepareHandover(lease: Lease): Promise<Handover> {
    const header = await this.#findHeader(lease.taskId);
    const handover = header && (await prepareHandover(this.#table, header, this.#getExpiry()));
    if (handover === undefined) throw leaseLost(lease);
    return handover;
  }

  async restart(id: string, entry: JournalEntry, submission?: Submission): Promise<Task | undefined> {
    // The sweeper keeps a row that this state lets it wait for, and removes others.
    const task = await this.find(id);
    if (task?.state !== 'FAILED_RETRYABLE') return undefined;
    const { parts, inbox } = submission ?? { parts: task.parts, inbox: getFirstInbox(task) };
    const acceptedAtMs = this.#clock.now();
    const openRow = getOpenRowKey(id, { acceptedAtMs, random: this.#randomness.id() });
    const payload = submission && (await this.#writePayload(submission.operations));
    await this.#putRows({ ...task, ...submission, openRow, inbox });
    this.#checkOpenRow(acceptedAtMs);
    const expiresAt = this.#getExpiry();
    const update = toRestart({ entry, openRow, expiresAt, submission, payload, parts, inbox });
    const header = await this.#updateHeader(id, update, (found) => found.openRow === openRow);
    if (header !== undefined) return this.find(id);
    await this.#removeRows(openRow, inbox);
    if (payload !== undefined) await removePayload(this.#table, payload);
    return undefined;
  }

  async fail(
    id: string,
    state: 'FAILED' | 'FAILED_RETRYABLE',
    entry: JournalEntry,
  ): Promise<Task | undefined> {
    const text = JSON.stringify(entry);
    const update = new ItemUpdate()
      .set({ state, endedAt: this.#clock.now(), leaseUntil: 0, expiresAt: this.#getExpiry() })
      .append('journal', [text])
      .add('fence', 1)
      .requireNone('form')
      .require('state', '=', 'STARTED');
    if (state === 'FAILED') update.remove('payload');
    const header = await this.#updateHeader(id, update, (found) => found.journal.at(-1) === text);
    return header === undefined ? undefined : this.find(id);
  }

  async cancel(id: string, user: string): Promise<Task | undefined> {
    await this.#learnTime();
    const update = new ItemUpdate()
      .set({ cancelledBy: user })
      .require('state', '=', 'STARTED')
      .requireNone('form');
    const isApplied = ({ state, cancelledBy }: HeaderItem) => state === 'STARTED' && cancelledBy === user;
    const header = await this.#updateHeader(id, update, isApplied);
    if (header === undefined) return undefined;
    // From now on no worker takes it: one that holds none now never will.
    const isHeld =
      header.isPutDown !== true && isLeased({ leaseUntilMs: header.leaseUntil }, this.#clock.now());
    if (isHeld) return this.find(id);
    return this.fail(id, 'FAILED', toCancelledEntry(user));
  }

  async removeOpen(task: Task): Promise<void> {
    const isEnded = task.state === 'COMPLETED' || task.state === 'FAILED';
    // Such an end is final: nothing of its payload is left.
    if (isEnded && !task.hasChunks) return this.#removeRows(task.openRow, task.inbox);
    const header = await this.#findHeader(task.id);
    // A retryable task keeps the payload for its restart, and one restarted meanwhile its new payload.
    const ended = header?.state === 'COMPLETED' || header?.state === 'FAILED';
    if (header !== undefined && ended) await removePayload(this.#table, header);
    await this.#removeRows(task.openRow, task.inbox);
  }

  async repairInbox({ openRow: key, inbox }: TaskStatus): Promise<void> {
    if (inbox !== undefined)
      await putInboxRow(this.#table, inbox.account, { key, expiresAt: this.#getExpiry() });
  }

  async removeOpenRow(row: OpenRow): Promise<void> {
    await this.#table.delete(toOpenRowKey(row));
  }

  async findStatus(id: string): Promise<TaskStatus | undefined> {
    const header = await this.#findHeader(id);
    if (header === undefined || header.expiresAt <= toSeconds(this.#clock.now())) return undefined;
    return toStatus(header);
  }

  listOpen(limit: number, after?: string): Promise<readonly OpenRow[]> {
    return listOpenRows(this.#table, limit, after);
  }

  /**
   * The sweeper removes a row that points to nothing for long. A process that was suspended for that long in between must not go on: its
   * task would never be found.
   *
   * @throws UnavailableError
   */
  #checkOpenRow(writtenAtMs: number): void {
    if (this.#clock.now() - writtenAtMs < staleRowAgeMs / 2) return;
    throw new UnavailableError('The task could not be stored in time; try again');
  }

  /**
   * Of what leads workers to a task the open row is written first and removed last: the sweeper finds everything else by it. The row in the
   * list of all tasks is for people, and stays.
   */
  async #putRows({ inbox, ...task }: RowTask & Pick<Task, 'inbox'>): Promise<void> {
    const key = task.openRow;
    const expiresAt = this.#getExpiry();
    const open = this.#table.put({ ...toOpenRowKey(parseOpenRow(key)), expiresAt });
    const writes = [open, putListRow(this.#table, task, expiresAt)];
    await Promise.all(writes).finally(() => Promise.allSettled(writes));
    if (inbox !== undefined) await putInboxRow(this.#table, inbox.account, { key, expiresAt });
  }

  async #removeRows(key: string, inbox: TaskInbox | undefined): Promise<void> {
    if (inbox !== undefined) await deleteInboxRow(this.#table, inbox.account, key);
    await this.removeOpenRow(parseOpenRow(key));
  }

  #writePayload(operations: readonly SubmittedOperation[]): ReturnType<typeof writePayload> {
    return writePayload(this.#table, operations, {
      attempt: this.#randomness.id(),
      expiresAt: this.#getExpiry(),
    });
  }

  async #findHeader(id: string): Promise<HeaderItem | undefined> {
    const item = await this.#table.get(getHeaderKey(id));
    return item && parseHeader(item);
  }

  /**
   * The header after the update; undefined when it was refused. The answer of a write may be lost and the SDK's repetition refused:
   * `isApplied` then recognizes by what the write left that it had been applied.
   */
  async #updateHeader(
    id: string,
    update: ItemUpdate,
    isApplied: (found: HeaderItem) => boolean = () => false,
  ): Promise<HeaderItem | undefined> {
    const updated = await this.#table.update(getHeaderKey(id), update);
    if (updated !== undefined) return parseHeader(updated);
    const found = await this.#findHeader(id);
    return found !== undefined && isApplied(found) ? found : undefined;
  }

  /** The texts to append to the header's journal, and their bytes: the entries, or the name of the spill that holds them. */
  async #storeEntries(
    lease: Lease,
    entries: readonly JournalEntry[],
  ): Promise<{ entries: readonly string[]; bytes: number }> {
    const texts = entries.map((entry) => JSON.stringify(entry));
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (lease.inlineBytes + bytes <= inlineJournalMax) return { entries: texts, bytes };
    const { fence, sequence } = lease;
    const spill = getSpillKey({ fence, sequence, random: this.#randomness.id() });
    await writeChunks(this.#table, JSON.stringify(texts), {
      getKey: (index) => ({ pk: getTaskKey(lease.taskId), sk: `${spill}#${getChunkKey(index)}` }),
      expiresAt: this.#getExpiry(),
    });
    return { entries: [spill], bytes: spill.length };
  }

  #getExpiry(): number {
    return toSeconds(this.#clock.now() + taskRetentionMs);
  }
}

function leaseLost(lease: Lease): LeaseLostError {
  return new LeaseLostError(`task ${lease.taskId} is held by another worker or was ended from outside`);
}
