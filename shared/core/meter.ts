/** A measure: a timer counts occurrences and their seconds, a counter occurrences, a gauge has a value that changes. */
interface Measure {
  readonly kind: 'timer' | 'counter' | 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
}

/**
 * What this process measures, by names and labels that Spinnaker's dashboards ask Clouddriver for, in Micrometer's form for Prometheus: a
 * timer `x` is shown as `x_seconds_count` and `x_seconds_sum`, a counter as `x_total`.
 */
export const measures = {
  controller_invocations: {
    kind: 'timer',
    help: 'Requests of the API, by function.',
    labels: ['controller', 'method', 'status', 'statusCode', 'success'],
  },
  operations: {
    kind: 'timer',
    help: 'Runs of operations to their end, from where a worker began or went on.',
    labels: ['OperationType', 'success'],
  },
  tasks: { kind: 'counter', help: 'Tasks that ended here.', labels: ['success'] },
  validationErrors: {
    kind: 'counter',
    help: 'Requests for operations that were refused.',
    labels: ['operation'],
  },
  executionTime: {
    kind: 'timer',
    help: 'Runs of caching agents, but for the time for which they watch.',
    labels: ['agent'],
  },
  executionCount: { kind: 'counter', help: 'Runs of caching agents.', labels: ['agent', 'status'] },
  kubernetes_api: {
    kind: 'timer',
    help: 'Calls of API servers, each try.',
    labels: ['account', 'action', 'success'],
  },
  cache_drift: {
    kind: 'gauge',
    help: 'Milliseconds by which the last run of a caching agent began later than it was due.',
    labels: ['agent'],
  },
} as const satisfies { readonly [name: string]: Measure };

/** Name of a measure. */
export type MeasureName = keyof typeof measures;

/** The labels of a measure, each with its value. */
export type MeasureLabels<N extends MeasureName> = {
  readonly [label in (typeof measures)[N]['labels'][number]]: string;
};

/** Takes what is measured. Never throws. */
export interface Meter {
  /** @param value seconds of a timer, amount of a counter, value of a gauge. Default 1 */
  record<N extends MeasureName>(name: N, labels: MeasureLabels<N>, value?: number): void;
}
