import { InvalidInputError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-request.ts';
import { getNumber } from '#http/query-number.ts';
import type { TaskFilter } from '../list-tasks.ts';
import type { TaskState } from '../task.ts';

/** Tasks of one page: unless the caller says, and at most. */
const limitDefault = 50;
const limitMax = 200;

const states: readonly TaskState[] = ['STARTED', 'COMPLETED', 'FAILED', 'FAILED_RETRYABLE'];

/** The form of the key of an open row. */
const cursorPattern = /^\d{15}#[\w-]{1,100}#[\w-]{1,100}$/;

/** Which tasks a request asks for, and which page of them. @throws InvalidInputError naming the parameter, and what was expected */
export function parseTaskQuery(request: Pick<ApiRequest, 'findQuery'>): {
  readonly filter: TaskFilter;
  readonly limit: number;
  readonly after: string | undefined;
} {
  const find = (name: string): string | undefined => request.findQuery(name) || undefined;
  const [account, application, user, operation] = ['account', 'application', 'user', 'operation'].map(find);
  const after = find('cursor');
  if (after !== undefined && !cursorPattern.test(after)) refuse('cursor', 'the cursor of an answer');
  return {
    filter: {
      ...{ account, application, user, operation },
      state: parseState(find('state')),
      sinceMs: parseTime(find('since')),
    },
    limit: getNumber(request, 'limit', { min: 1, max: limitMax, otherwise: limitDefault }),
    after,
  };
}

function parseState(text: string | undefined): TaskState | undefined {
  const state = states.find((each) => each === text?.toUpperCase());
  return text === undefined || state !== undefined ? state : refuse('state', `one of ${states.join(', ')}`);
}

function parseTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text.slice(0, 50));
  return Number.isFinite(ms)
    ? ms
    : refuse('since', 'milliseconds since 1970, or a time like 2026-11-27T09:00:00Z');
}

function refuse(name: string, expected: string): never {
  throw new InvalidInputError(`Query parameter '${name}' must be ${expected}`);
}
