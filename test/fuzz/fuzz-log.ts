import { asString, getPath } from '#core/json.ts';

export interface OperationCounts {
  readonly calls: number;
  readonly statuses: { readonly [status: string]: number };
}

/** Something that an answer must not be. The same of one route counts as one, whatever the request was. */
export interface FuzzFailure {
  readonly operation: string;
  /** Kind of failure in schemathesis' words, such as `ServerError`. */
  readonly check: string;
  readonly message: string;
  readonly status: number;
  /** Beginning of the answer's body. */
  readonly answer: string;
  /** The shortest of the requests, as a command. */
  readonly curl: string;
  readonly count: number;
}

export interface FuzzLog {
  readonly calls: number;
  readonly operations: { readonly [operation: string]: OperationCounts };
  readonly failures: readonly FuzzFailure[];
}

/**
 * Sums up the log of `hooks.py`.
 *
 * @param text lines of JSON, `call` or `failure`
 * @throws SyntaxError for a line that is no JSON
 */
export function parseFuzzLog(text: string): FuzzLog {
  const operations = new Map<string, Map<string, number>>();
  const failures = new Map<string, FuzzFailure>();
  const entries = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
  for (const entry of entries) {
    const call = asString(getPath(entry, 'call'));
    if (call === undefined) addFailure(failures, parseFailure(entry));
    else count(operations, call, String(getPath(entry, 'status')));
  }
  const counts = [...operations].sort(([one], [other]) => (one < other ? -1 : 1));
  const summed = counts.map(([name, statuses]) => [name, sumUp(statuses)] as const);
  return {
    calls: summed.reduce((sum, [, { calls }]) => sum + calls, 0),
    operations: Object.fromEntries(summed),
    failures: [...failures.values()],
  };
}

function count(operations: Map<string, Map<string, number>>, operation: string, status: string): void {
  const statuses = operations.get(operation) ?? new Map<string, number>();
  operations.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1));
}

function sumUp(statuses: ReadonlyMap<string, number>): OperationCounts {
  const calls = [...statuses.values()].reduce((sum, number) => sum + number, 0);
  return { calls, statuses: Object.fromEntries(statuses) };
}

function parseFailure(entry: unknown): FuzzFailure {
  const getText = (name: string): string => asString(getPath(entry, name)) ?? '';
  return {
    operation: getText('failure'),
    check: getText('check'),
    message: getText('message'),
    status: Number(getPath(entry, 'status')),
    answer: getText('answer'),
    curl: getText('curl'),
    count: 1,
  };
}

function addFailure(failures: Map<string, FuzzFailure>, failure: FuzzFailure): void {
  const { operation, check, status } = failure;
  const key = JSON.stringify([operation, check, status]);
  const known = failures.get(key);
  const shorter = known === undefined || failure.curl.length < known.curl.length ? failure : known;
  failures.set(key, { ...shorter, count: (known?.count ?? 0) + 1 });
}
