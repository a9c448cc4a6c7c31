import type { AgentTaskList } from '#agents/agent-operation.ts';
import type { Clock } from '#core/clock.ts';
import type { ItemKey, ItemTable } from '#platform/aws/table.ts';
import { type OpenRow, taskRetentionMs } from '../task.ts';
import { parseOpenRow } from './task-items.ts';

const dayMs = 24 * 3600 * 1000;

/** Times are counted down from here, so that the newest row comes first. */
const lastMs = 999_999_999_999_999;

/** Tasks of agents of a day. One partition would be that of a whole week's tasks, and written to by all that are accepted. */
function getDayKey(day: number): string {
  return `AGENTTASKS#${new Date(day * dayMs).toISOString().slice(0, 10)}`;
}

/**
 * Key of a task's row in the list of what agents did, the newest first. Like rows of the list of open tasks it may precede its task, or
 * point to none.
 *
 * @param openRow key of the task's open row
 */
export function getAgentTaskKey(openRow: string): ItemKey {
  const { acceptedAtMs } = parseOpenRow(openRow);
  const sk = `${String(lastMs - acceptedAtMs).padStart(15, '0')}|${openRow}`;
  return { pk: getDayKey(Math.floor(acceptedAtMs / dayMs)), sk };
}

/** The list of tasks that agents were to run, in DynamoDB. */
export class DynamoAgentTaskList implements AgentTaskList {
  readonly #table: ItemTable;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ table, clock }: { readonly table: ItemTable; readonly clock: Pick<Clock, 'now'> }) {
    this.#table = table;
    this.#clock = clock;
  }

  async list(limit: number): Promise<readonly OpenRow[]> {
    const nowMs = this.#clock.now();
    const oldest = Math.floor((nowMs - taskRetentionMs) / dayMs);
    const rows: OpenRow[] = [];
    // Clocks of those who accept differ: there may be a task of tomorrow.
    for (let day = Math.floor(nowMs / dayMs) + 1; day >= oldest && rows.length < limit; day -= 1) {
      const items = await this.#table.query(getDayKey(day), limit - rows.length);
      rows.push(...items.map((item) => parseOpenRow(String(item['sk']).split('|')[1] ?? '')));
    }
    return rows;
  }
}
