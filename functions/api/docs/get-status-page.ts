import { toSummary } from '#accounts/account-health-view.ts';
import { joinRegions } from '#accounts/model/regional-health.ts';
import { openHealthStore } from '#accounts/services/health-store.ts';
import { toCachingAgentView } from '#caching/scheduling/caching-agent-view.ts';
import { openCachingAgentStore } from '#caching/services/caching-agent-store.ts';
import { NotFoundError } from '#core/errors.ts';
import { apiHandler } from '#http/api-handler.ts';
import { getTask, listRunningTasks } from '#tasks/get-task.ts';
import { toStatusPage, toTaskPage } from '#tasks/http/status-page.ts';
import { listTasks } from '#tasks/list-tasks.ts';
import { openTaskList } from '#tasks/services/task-list.ts';
import type { Task } from '#tasks/task.ts';

/** Tasks of each list of the page. */
const tasksMax = 50;

/** GET /status: a page for people, of what the caller may read: accounts and tasks, or with `task` one of these. It changes nothing. */
export const handler = apiHandler(
  (services) => ({
    ...openTaskList(services),
    agents: openCachingAgentStore(services).agents,
    healths: openHealthStore(services),
  }),
  async function getStatusPage(request, services) {
    const { store, agents, healths, clock } = services;
    const mayRead = (task: Task) => request.access.mayReadTask(task);
    const id = request.findQuery('task');
    if (id !== undefined) {
      const task = await getTask(store, id);
      if (!mayRead(task)) throw new NotFoundError(`Task not found (id: ${id})`);
      return toTaskPage(task, clock.now());
    }
    const [mayShow, all, known, open, recent] = await Promise.all([
      request.access.openAccountFilter(),
      agents.list(),
      healths.list(),
      listRunningTasks(store),
      listTasks(services, {}, { limit: tasksMax, mayRead }),
    ]);
    const nowMs = clock.now();
    return toStatusPage({
      agents: all.filter(({ account }) => mayShow(account)).map((agent) => toCachingAgentView(agent, nowMs)),
      healths: new Map(
        [...joinRegions(known)]
          .filter(([account]) => mayShow(account))
          .map(([account, health]) => [account, toSummary(health, clock)]),
      ),
      open: open.filter(mayRead).slice(0, tasksMax),
      recent: recent.tasks,
      nowMs,
    });
  },
);
