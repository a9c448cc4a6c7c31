import type { AgentTaskList } from '#agents/agent-operation.ts';
import type { ItemKey, TimedTable } from '#platform/aws/table.ts';
import { type OpenRow, taskRetentionMs } from '../task.ts';
import { parseOpenRow } from './task-items.ts';

const dayMs = 24 * 3600 * 1000;

/** Keys count times down from here, so that the newest row comes first. */
const lastMs = 999_999_999_999_999;

/** Partition of one day's tasks of agents: a single partition would hold a whole week's, and take every write. */
function getDayKey(day: number): string {
  return `AGENTTASKS#${new Date(day * dayMs).toISOString().slice(0, 10)}`;
}

/**
 * Key of a task's row in the list of agents' tasks, newest first. Like a row of the list of open tasks it may be there before its task, or
 * point to none.
 *
 * @param openRow key of the task's open row
 */
export function getAgentTaskKey(openRow: string): ItemKey {
  const { acceptedAtMs } = parseOpenRow(openRow);
  const sk = `${String(lastMs - acceptedAtMs).padStart(15, '0')}|${openRow}`;
  return { pk: getDayKey(Math.floor(acceptedAtMs / dayMs)), sk };
}

/** The list of agents' tasks, in DynamoDB. */
export function createAgentTaskList({ table, clock }: TimedTable): AgentTaskList {
  return {
    async list(limit: number): Promise<readonly OpenRow[]> {
      const nowMs = clock.now();
      const oldest = Math.floor((nowMs - taskRetentionMs) / dayMs);
      const rows: OpenRow[] = [];
      // Accepting processes' clocks differ: there may be a task of tomorrow.
      for (let day = Math.floor(nowMs / dayMs) + 1; day >= oldest && rows.length < limit; day -= 1) {
        const items = await table.query(getDayKey(day), limit - rows.length);
        rows.push(...items.map((item) => parseOpenRow(String(item['sk']).split('|')[1] ?? '')));
      }
      return rows;
    },
  };
}
