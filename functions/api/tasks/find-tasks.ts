import type { TaskPageView } from '#contract/answers/tasks.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { parseTaskQuery } from '#tasks/http/task-query.ts';
import { listTasks } from '#tasks/list-tasks.ts';
import { openTaskList } from '#tasks/services/task-list.ts';
import { toTaskSummary } from '#tasks/task-view.ts';

/** GET /tasks: the tasks of the last seven days, newest first, of accounts that the caller may read. */
export const handler = apiHandler(openTaskList, async function findTasks(request, services) {
  const { filter, limit, after } = parseTaskQuery(request);
  const page = await listTasks(services, filter, {
    ...{ limit, after },
    mayRead: (task) => request.access.mayReadTask(task),
  });
  return ok<TaskPageView>({
    tasks: page.tasks.map((task) => toTaskSummary(task, services.clock.now())),
    ...(page.after !== undefined && { cursor: page.after }),
  });
});
