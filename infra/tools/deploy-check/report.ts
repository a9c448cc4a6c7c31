import type { Row, State } from './rows.ts';

/** Counts the rows of each state. */
export function countRows(rows: readonly Row[]): { readonly [state in State]: number } {
  const count = (state: State): number => rows.filter((row) => row.state === state).length;
  return { ok: count('ok'), note: count('note'), mend: count('mend'), 'not checked': count('not checked') };
}

/** The report for people: what was looked at, what was found, and what to do. */
export function formatReport(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ what }) => Math.min(what.length, whatLengthMax)));
  const lines = [...Map.groupBy(rows, ({ matter }) => matter)].flatMap(([matter, group]) => [
    '',
    matter,
    ...group.flatMap((row) => formatRow(row, width)),
  ]);
  return [...lines, '', formatTally(rows)].join('\n');
}

/** Columns of what was looked at: what is longer pushes the rest of its line aside. */
const whatLengthMax = 44;

function formatRow({ what, state, found, next }: Row, width: number): string[] {
  const mark = (state === 'mend' ? 'MEND' : state).padEnd('not checked'.length);
  const line = `  ${mark}  ${what.padEnd(width)}  ${toOneLine(found)}`;
  return next === undefined ? [line] : [line, `${' '.repeat(width + 17)}→ ${toOneLine(next)}`];
}

/** What AWS said may have anything in it: a terminal must not obey it. */
function toOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim();
}

function formatTally(rows: readonly Row[]): string {
  const tally = countRows(rows);
  const verdict = tally.mend === 0 ? 'Nothing to mend' : `${tally.mend} to mend`;
  const rest = `${tally.ok} ok, ${tally.note} to know, ${tally['not checked']} not checked`;
  const policy = tally['not checked'] === 0 ? '' : '. --print-policy prints what reading all of it takes';
  return `${verdict}: ${rest}${policy}`;
}

/** The report for programs: one JSON document. */
export function toJsonReport(rows: readonly Row[]): string {
  return JSON.stringify({ tally: countRows(rows), rows }, undefined, 2);
}
