import type { TaskReferenceView } from '#contract/answers/tasks.ts';
import type { Task } from '../task.ts';

/** What starting a task answers. It has a file of its own, for who starts a known task again needs no providers. */
export function toTaskReference(task: Pick<Task, 'id'>): TaskReferenceView {
  return { id: task.id, resourceUri: `/task/${task.id}` };
}
