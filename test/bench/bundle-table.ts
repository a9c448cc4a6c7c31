import { ceilings } from '#test/support/system/function-bundles.ts';
import { type BundleReport, importAimMs } from './bundles.ts';

/**
 * Every function's bundle against the ceilings of its kind, as a table for people; the import's by the processor, for the clock
 * tells little on a busy machine.
 */
export function toBundleTable(bundles: readonly BundleReport[]): string {
  const sizes = ['KB at start', 'limit', 'KB whole', 'limit'];
  const head = ['function', 'kind', ...sizes, 'import ms', 'processor ms', 'limit', ''];
  return align([head, ...bundles.map(toBundleCells)]);
}

function toBundleCells({ module, kind, startKb, wholeKb, importMs, processorMs }: BundleReport): string[] {
  const limits = ceilings[kind];
  const fits = startKb <= limits.startKb && wholeKb <= limits.wholeKb && processorMs <= importAimMs;
  return [
    ...[module, kind, String(startKb), `≤ ${limits.startKb}`, String(wholeKb), `≤ ${limits.wholeKb}`],
    ...[importMs.toFixed(1), processorMs.toFixed(1), `≤ ${importAimMs}`, fits ? 'ok' : 'MISSED'],
  ];
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
