import type { TaskReferenceView } from '#contract/answers/tasks.ts';
import type { Task } from '../task.ts';

/** The answer to starting a task. In a file of its own, since starting a known task again needs no providers. */
export function toTaskReference(task: Pick<Task, 'id'>): TaskReferenceView {
  return { id: task.id, resourceUri: `/task/${task.id}` };
}
