import { ceilings } from '../support/function-bundles.ts';
import type { BundleReport } from './bundles.ts';
import type { Row } from './deploy-rows.ts';
import type { CallCounts } from './running-system.ts';
import type { Summary } from './statistics.ts';

/** What the table shows. */
export interface TableInput {
  readonly rows: readonly Row[];
  readonly calls: { readonly [kind: string]: CallCounts };
  readonly bundles: readonly BundleReport[];
}

/** The report as tables for people. */
export function toTable({ rows, calls, bundles }: TableInput): string {
  return [
    align([['', 'median', 'p95', 'min–max', 'n', 'limit', 'floor'], ...rows.map(toCells)]),
    `Calls of one deploy, or one cycle (by AWS operation and Kubernetes method):\n${toCallLines(calls)}`,
    toBundleTable(bundles),
  ].join('\n\n');
}

function toCells({ name, unit, summary, limit, floor }: Row): string[] {
  const verdict = limit === undefined ? '' : `≤ ${limit} ${summary.median <= limit ? 'ok' : 'MISSED'}`;
  return [
    `${name} (${unit})`,
    toNumber(summary.median),
    toNumber(summary.p95),
    toSpread(summary),
    String(summary.n),
    verdict,
    floor === undefined ? '' : `${toNumber(floor.median)} (p95 ${toNumber(floor.p95)})`,
  ];
}

function toCallLines(calls: TableInput['calls']): string {
  return Object.entries(calls)
    .map(([kind, counts]) => {
      const texts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
      return `  ${kind}: ${texts.sort().join(', ')}`;
    })
    .join('\n');
}

/**
 * Every function's bundle against the ceilings of its kind; the import's by the processor, for the clock tells little on a busy
 * machine.
 */
export function toBundleTable(bundles: readonly BundleReport[]): string {
  const sizes = ['KB at start', 'limit', 'KB whole', 'limit'];
  const head = ['function', 'kind', ...sizes, 'import ms', 'processor ms', 'limit', ''];
  return align([head, ...bundles.map(toBundleCells)]);
}

function toBundleCells({ module, kind, startKb, wholeKb, importMs, processorMs }: BundleReport): string[] {
  const limits = ceilings[kind];
  const fits = startKb <= limits.startKb && wholeKb <= limits.wholeKb && processorMs <= limits.importMs;
  return [
    module,
    kind,
    String(startKb),
    `≤ ${limits.startKb}`,
    String(wholeKb),
    `≤ ${limits.wholeKb}`,
    toNumber(importMs),
    toNumber(processorMs),
    `≤ ${limits.importMs}`,
    fits ? 'ok' : 'MISSED',
  ];
}

function toSpread({ minimum, maximum }: Summary): string {
  return `${toNumber(minimum)}–${toNumber(maximum)}`;
}

function toNumber(value: number): string {
  return value.toFixed(1);
}

/** Columns padded to their widest cell: the first to the right, numbers to the left. */
function align(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}
