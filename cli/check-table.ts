import { asString, getPath, type JsonValue } from '#core/json.ts';
import { CliError } from './cli-error.ts';
import { printTable } from './table.ts';
import type { Style, Terminal } from './terminal.ts';

/** A check and its finding. */
export interface CheckRow {
  readonly check: string;
  /** `unknown` is not counted as a failure. */
  readonly state: 'ok' | 'failed' | 'unknown';
  readonly found: string;
  /** The next step. */
  readonly next?: string;
}

const styles: { readonly [state in CheckRow['state']]: Style } = {
  ok: 'green',
  failed: 'red',
  unknown: 'yellow',
};

/** Prints what was looked at as a table, and after it what to do. */
export function printChecks(terminal: Terminal, rows: readonly CheckRow[]): void {
  printTable(terminal, {
    headings: ['CHECK', 'STATE', 'FOUND'],
    rows: rows.map(({ check, state, found }) => [check, { text: state, style: styles[state] }, found]),
  });
  for (const { check, next } of rows) if (next !== undefined) terminal.tell(`Next, ${check}: ${next}`);
}

/** Does some of the checks, and adds a row of failure where they throw a CliError. */
export async function collect(rows: CheckRow[], check: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    rows.push({ check, state: 'failed', found: error.message, ...(error.next && { next: error.next }) });
  }
}

/** Whether one of them has failed. */
export function hasFailed(rows: readonly CheckRow[]): boolean {
  return rows.some(({ state }) => state === 'failed');
}

/** State and reason in an answer of `/credentials/{account}/health`, and both as a row says them: `DEGRADED: one of 2 …`. */
export function describeHealth(health: JsonValue | undefined): {
  readonly state: string;
  readonly found: string;
} {
  const state = asString(getPath(health, 'state')) ?? 'UNKNOWN';
  const reason = asString(getPath(health, 'reason'));
  return { state, found: reason === undefined ? state : `${state}: ${reason}` };
}
