import { InvalidInputError } from '#core/errors.ts';
import type { Task, TaskInbox, TaskPart } from './task.ts';

/** Maximum number of parts: the operations of one task may change between workers so often. */
export const partsMax = 100;

/** The operations that the present worker of a task runs: from the first to before the last. */
export interface PartRange {
  readonly from: number;
  readonly to: number;
  /** Whether no other part follows. */
  readonly isLast: boolean;
}

/** The members of a task about its parts. */
export type Parted = Pick<Task, 'parts' | 'part'>;

/**
 * The parts of a task: one worker runs neighbouring operations that wait in the same place.
 *
 * @param inboxes where each operation waits for an agent; undefined for one that workers of the queue run
 * @returns undefined where one worker runs all of them
 * @throws InvalidInputError for more than {@link partsMax} of them
 */
export function toParts(inboxes: readonly (TaskInbox | undefined)[]): readonly TaskPart[] | undefined {
  const parts: TaskPart[] = [];
  for (const inbox of inboxes) {
    const last = parts.at(-1);
    if (last === undefined || last.inbox?.account !== inbox?.account) parts.push({ operations: 1, inbox });
    else parts[parts.length - 1] = { operations: last.operations + 1, inbox };
  }
  if (parts.length > partsMax) {
    throw new InvalidInputError(
      `The operations change ${parts.length - 1} times between accounts that agents reach and others: ` +
        `expected ${partsMax - 1} times at most; post those of one account one behind the other`,
    );
  }
  return parts.length > 1 ? parts : undefined;
}

/** The operations that the present worker runs; undefined where it runs all of them. */
export function findPartRange({ parts, part = 0 }: Parted): PartRange | undefined {
  if (parts === undefined) return undefined;
  const from = parts.slice(0, part).reduce((sum, { operations }) => sum + operations, 0);
  return { from, to: from + (parts[part]?.operations ?? 0), isLast: part + 1 >= parts.length };
}

/** The part after the present one; undefined after the last. */
export function findNextPart({ parts, part = 0 }: Parted): TaskPart | undefined {
  return parts?.[part + 1];
}
