import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import { createTaskList } from '../aws/task-list.ts';
import type { TaskList } from '../list-tasks.ts';
import { openTasks, type TaskServices } from './tasks.ts';

/** What functions use that list tasks. */
export interface TaskListServices extends TaskServices {
  readonly list: TaskList;
}

/** Opens what functions use that list tasks. */
export function openTaskList(services: Services): TaskListServices {
  return { ...openTasks(services), list: services.get(createList) };
}

function createList(services: Services): TaskList {
  return createTaskList(openTable(services, 'tasks'));
}
