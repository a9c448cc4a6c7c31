import type { DemoTarget } from './demo-application.ts';
import { toManifestPath } from './demo-client.ts';

/** A part of the demo and how long it took. */
export interface Timing {
  readonly part: string;
  readonly durationMs: number;
}

/** What there is to tell at the end. */
export interface Summary {
  readonly url: string;
  readonly target: DemoTarget;
  readonly taskId: string;
  /** Kind, space, name of each object. */
  readonly names: readonly string[];
  readonly timings: readonly Timing[];
  /** Whether the application and Busdriver stay. */
  readonly isKept: boolean;
}

/** The summary, without a line end. */
export function formatSummary({ url, target, taskId, names, timings, isKept }: Summary): string {
  const paths = ['/credentials', `/task/${taskId}`, ...names.map((name) => toManifestPath(target, name))];
  return [
    `Deployed to namespace ${target.namespace} of account ${target.account}, and stable:`,
    ...names.map((name) => `  ${name}`),
    '',
    'It took:',
    ...timings.map(({ part, durationMs }) => `  ${formatDuration(durationMs).padStart(8)}  ${part}`),
    '',
    isKept ? 'Look at it:' : 'These were asked; with --keep it stays, for you to ask them again:',
    ...paths.map((path) => `  curl -s '${url}${path}'`),
  ].join('\n');
}

/** A duration for people: `12 ms`, `3.1 s`. */
export function formatDuration(durationMs: number): string {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}
