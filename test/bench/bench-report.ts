import { type CallTable, formatCalls } from './own-rows.ts';
import type { RowHead, RowResult } from './rows.ts';
import type { Summary } from './statistics.ts';

/** After this line of docs/benchmarks.md come the runs, the latest first. */
export const runsMarker = '<!-- runs, by npm run bench -- --write -->';

/** Characters of a problem that a table shows. */
const problemLengthMax = 120;

export interface BenchSubject {
  readonly commit: string;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly node: string;
  /** Such as `2 × AMD EPYC`. */
  readonly processors: string;
  /** Processes that wanted a processor before the run began, on average over a minute. */
  readonly load: number;
  readonly samples: number;
}

export interface BenchReport extends BenchSubject {
  readonly rows: readonly RowResult[];
  readonly calls: CallTable;
}

export function formatRow({ name, unit, server, ...row }: RowResult): string {
  const head = `${server}: ${name}`;
  const { summary, floor, processorMs, aim } = row;
  if (summary === undefined) return `${head}: not measured: ${row.problem}`;
  return [
    `${head}: ${formatSummary(summary)} ${unit}, n ${summary.n}`,
    ...(processorMs === undefined ? [] : [`processors ${formatNumber(processorMs)} ms`]),
    ...(floor === undefined ? [] : [`floor ${formatNumber(floor.median)} ms`]),
    ...(aim === undefined ? [] : [`aim ${aim}${summary.median <= aim ? '' : ', MISSED'}`]),
  ].join('; ');
}

export function formatReport(report: BenchReport): string {
  const { commit, startedAtMs, node, processors, load, samples, rows, calls } = report;
  const time = new Date(startedAtMs).toISOString().slice(0, 16).replace('T', ' ');
  const subject = `Node ${node} on ${processors}, load ${load.toFixed(1)} before it began, ${samples} samples asked for.`;
  return [
    `## ${time} UTC, commit ${toCell(commit)}`,
    '',
    toCell(subject),
    '',
    ...formatTable(rows),
    ...(Object.keys(calls).length === 0
      ? []
      : ['', ...formatCalls(calls).map((line) => `- Calls of ${line}`)]),
    '',
  ].join('\n');
}

/** A table with a row for each name, and a column for each server, both in the order in which they came. */
export function formatTable(rows: readonly RowResult[]): string[] {
  const servers = [...new Set(rows.map(({ server }) => server))];
  const heads = new Map(rows.map((row) => [row.name, row]));
  return [
    toLine(['', 'aim', 'floor', ...servers]),
    toLine(['---', '--:', '--:', ...servers.map(() => '--:')]),
    ...[...heads.values()].map((head) => toTableLine(head, { rows, servers })),
  ];
}

function toTableLine(
  { name, unit }: RowHead,
  { rows, servers }: { rows: readonly RowResult[]; servers: readonly string[] },
): string {
  const own = rows.filter((row) => row.name === name);
  // Peers have none.
  const aim = own.find((row) => row.aim !== undefined)?.aim;
  const floors = own.flatMap(({ floor }) => (floor === undefined ? [] : [floor.median]));
  const cells = servers.map((server) => toResultCell(own.find((row) => row.server === server)));
  const floor = floors.length === 0 ? '' : formatNumber(Math.min(...floors));
  return toLine([`${toCell(name)}, ${unit}`, aim === undefined ? '' : `≤ ${aim}`, floor, ...cells]);
}

function toResultCell(row: RowResult | undefined): string {
  if (row === undefined) return '';
  const { summary, processorMs, aim, problem = '' } = row;
  if (summary === undefined) return `not served: ${toCell(problem).slice(0, problemLengthMax)}`;
  const median = formatNumber(summary.median);
  const shown = aim !== undefined && summary.median <= aim ? `**${median}**` : median;
  const spread = summary.n === 1 ? '' : ` (${formatNumber(summary.p25)}–${formatNumber(summary.p75)})`;
  return `${shown}${spread}${processorMs === undefined ? '' : `; ${formatNumber(processorMs)}`}`;
}

/**
 * The page with a section below the marker, above all others.
 *
 * @throws Error when the page has no marker
 */
export function insertReport(page: string, section: string): string {
  const [before, after, ...more] = page.split(`${runsMarker}\n`);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`docs/benchmarks.md: expected one line '${runsMarker}'`);
  return `${before}${runsMarker}\n\n${section.trim()}\n${after.trim() === '' ? '' : `\n${after.trim()}\n`}`;
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Text from outside that neither ends a cell nor is read as Markdown. */
function toCell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');
}

function formatSummary({ n, median, p25, p75, p95 }: Summary): string {
  const spread = `p25–p75 ${formatNumber(p25)}–${formatNumber(p75)}, p95 ${formatNumber(p95)}`;
  return n === 1 ? formatNumber(median) : `${formatNumber(median)} (${spread})`;
}

/** One place after the point, as far as it says something. */
function formatNumber(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1);
}
