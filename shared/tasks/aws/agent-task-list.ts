import type { AgentTaskList } from '#agents/agent-operation.ts';
import type { TimedTable } from '#platform/aws/table.ts';
import { listDayRows, parseDayRow } from './task-days.ts';
import { parseOpenRow } from './task-items.ts';

/** The list of agents' tasks, in DynamoDB. */
export function createAgentTaskList(parts: TimedTable): AgentTaskList {
  return {
    async list(limit) {
      const items = await listDayRows(parts, 'AGENTTASKS', { limit });
      return items.map((item) => parseOpenRow(parseDayRow(item)));
    },
  };
}
