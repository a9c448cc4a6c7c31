/** One thing that was looked at. */
export interface CheckRow {
  readonly what: string;
  /** `note`: it may be meant so. */
  readonly verdict: 'good' | 'bad' | 'note';
  readonly details: string;
}

const signs = { good: 'ok', bad: 'FAILED', note: 'note' } as const;

/** The rows as a table, without a line end. */
export function formatCheck(rows: readonly CheckRow[]): string {
  const width = Math.max(...rows.map(({ what }) => what.length));
  return rows
    .map(({ what, verdict, details }) => `${signs[verdict].padEnd(6)}  ${what.padEnd(width)}  ${details}`)
    .join('\n');
}
