import { type SweepCursor, sweepTasks } from '../../shared/core/tasks/sweep-tasks.ts';
import type { SeenAgent } from '../../shared/core/tasks/task-inbox.ts';
import { scheduleHandler } from '../../shared/runtime/events/schedule-handler.ts';
import type { Services } from '../../shared/runtime/services/services.ts';
import { openWorkTasks } from '../../shared/runtime/services/tasks.ts';

/** Schedule `sweep-tasks`: sends messages for open tasks again, and ends what a worker left unfinished after completion. */
export const handler = scheduleHandler(openWorkTasks, async function sweepOpenTasks(services) {
  const system = { ...services, findSeenAgent: (account: string) => findSeenAgent(services.all, account) };
  const report = await sweepTasks(system, services.all.get(createCursor));
  if (Object.values(report).some((count) => count > 0)) services.log.info('swept open tasks', { ...report });
});

/** Where a sweep stopped that ran out of time: the next one of the installation in this process goes on there. */
function createCursor(): SweepCursor {
  return {};
}

/** Loaded late: tasks that wait for agents are few. */
async function findSeenAgent(all: Services, account: string): Promise<SeenAgent | undefined> {
  const { openAgentSessions } = await import('../../shared/runtime/services/agent-sessions.ts');
  return openAgentSessions(all).findSeen(account);
}
