import { scheduleHandler } from '#http/events/schedule-handler.ts';
import type { Services } from '#platform/services/services.ts';
import { openWorkTasks } from '#tasks/services/tasks.ts';
import { type SweepCursor, sweepTasks } from '#tasks/sweep-tasks.ts';
import type { SeenAgent } from '#tasks/task-inbox.ts';

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
  const { openAgentSessions } = await import('#agents/sessions/agent-sessions.ts');
  return openAgentSessions(all).findSeen(account);
}
