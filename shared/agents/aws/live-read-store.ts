import type { Clock } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { taskReader as reader } from '#platform/aws/item-reader.ts';
import { type Item, type ItemKey, type ItemTable, ItemUpdate, type TimedTable } from '#platform/aws/table.ts';
import {
  type LiveRead,
  type LiveReadAnswer,
  type LiveReadPart,
  type LiveReadState,
  type LiveReadStore,
  liveReadLeaseMs,
  liveReadLifeMs,
} from '../live-read.ts';

/** Items of a read that are deleted at a time. */
const deletesMax = 8;

/** Digits of the time of a row's sort key: rows are in the order of their time until the year 2286. */
const timeDigits = 13;

function getReadKey(id: string): ItemKey {
  return { pk: `READ#${id}`, sk: '#' };
}

function getPartKey({ id, take, part }: LiveReadPart): ItemKey {
  return { pk: `READ#${id}`, sk: `part#${take}#${part}` };
}

/** A row among the reads of an account. It may outlive its read by a moment, never precede it. */
function getRowKey({ account, id, acceptedAtMs }: LiveRead): ItemKey {
  return { pk: getListKey(account), sk: `${String(acceptedAtMs).padStart(timeDigits, '0')}#${id}` };
}

function getListKey(account: string): string {
  return `READS#${account}`;
}

/** Live reads through agents, in DynamoDB. */
export class DynamoLiveReadStore implements LiveReadStore {
  readonly #table: ItemTable;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ table, clock }: TimedTable) {
    this.#table = table;
    this.#clock = clock;
  }

  async add(read: LiveRead): Promise<void> {
    const { id, account, method, args, acceptedAtMs, waiter } = read;
    const expiresAt = toExpiry(acceptedAtMs);
    const item = { id, account, method, args, acceptedAt: acceptedAtMs, waiter, expiresAt };
    await this.#table.put({ ...getReadKey(id), ...item, state: 'OPEN', takes: 0, takenUntil: 0 });
    await this.#table.put({ ...getRowKey(read), expiresAt });
  }

  async list(account: string, limit: number): Promise<readonly string[]> {
    const rows = await this.#table.query(getListKey(account), limit);
    const { true: old = [], false: young = [] } = Object.groupBy(rows, (row) => `${this.#isOver(row)}`);
    // Left by a process that died: they would come before all others until the table forgets them.
    await forEachConcurrently(old, deletesMax, ({ sk }) =>
      this.#table.delete({ pk: getListKey(account), sk: String(sk) }),
    );
    return young.map(({ sk }) => String(sk).slice(timeDigits + 1));
  }

  async find(id: string): Promise<LiveReadState | undefined> {
    const item = await this.#table.get(getReadKey(id));
    return item === undefined || this.#isOver(item) ? undefined : parseState(item);
  }

  async take(id: string): Promise<number | undefined> {
    const nowMs = this.#clock.now();
    const update = new ItemUpdate()
      .set({ takenUntil: nowMs + liveReadLeaseMs })
      .add('takes', 1)
      .require('state', '=', 'OPEN')
      .require('takenUntil', '<=', nowMs)
      .require('expiresAt', '>', nowMs / 1000);
    const item = await this.#table.update(getReadKey(id), update);
    return item && reader.getNumber(item, 'takes');
  }

  async putPart(place: LiveReadPart, bytes: Uint8Array): Promise<void> {
    await this.#table.put({ ...getPartKey(place), bytes, expiresAt: toExpiry(this.#clock.now()) });
  }

  async finish(id: string, { take, parts, bytes, failure }: LiveReadAnswer): Promise<boolean> {
    const update = new ItemUpdate()
      .set({ state: 'ANSWERED', parts, bytes, failure })
      .require('state', '=', 'OPEN')
      .require('takes', '=', take);
    return (await this.#table.update(getReadKey(id), update)) !== undefined;
  }

  async findPart(place: LiveReadPart): Promise<Uint8Array | undefined> {
    const item = await this.#table.get(getPartKey(place));
    return item && reader.getBytes(item, 'bytes');
  }

  async remove(read: LiveRead, answer: LiveReadAnswer | undefined): Promise<void> {
    const { id } = read;
    const { take = 0, parts = 0 } = answer ?? {};
    const pieces = Array.from({ length: parts }, (_, part) => getPartKey({ id, take, part }));
    await forEachConcurrently([getReadKey(id), getRowKey(read), ...pieces], deletesMax, (key) =>
      this.#table.delete(key),
    );
  }

  #isOver(item: Item): boolean {
    return reader.getNumber(item, 'expiresAt') * 1000 <= this.#clock.now();
  }
}

function toExpiry(nowMs: number): number {
  return Math.ceil((nowMs + liveReadLifeMs) / 1000);
}

function parseState(item: Item): LiveReadState {
  const takes = reader.getNumber(item, 'takes');
  const parts = reader.findNumber(item, 'parts');
  return {
    id: reader.getText(item, 'id'),
    account: reader.getText(item, 'account'),
    method: reader.getText(item, 'method'),
    args: reader.getText(item, 'args'),
    acceptedAtMs: reader.getNumber(item, 'acceptedAt'),
    waiter: reader.findText(item, 'waiter'),
    takes,
    takenUntilMs: reader.getNumber(item, 'takenUntil'),
    ...(parts !== undefined && {
      answer: {
        ...{ take: takes, parts, failure: reader.findText(item, 'failure') },
        ...(item['bytes'] !== undefined && { bytes: reader.getBytes(item, 'bytes') }),
      },
    }),
  };
}
