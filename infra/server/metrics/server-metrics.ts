import { Counter, collectDefaultMetrics, Gauge, Registry, Summary } from 'prom-client';
import { BoundedLabels, type Labels } from '#core/bounded-labels.ts';
import { type MeasureLabels, type MeasureName, type Meter, measures } from '#core/meter.ts';

/** One measure of Spectator's form. */
interface SpectatorMetric {
  readonly kind: 'Counter' | 'Gauge' | 'Timer';
  readonly values: {
    readonly tags: readonly { readonly key: string; readonly value: string }[];
    readonly values: readonly [{ readonly t: number; readonly v: number }];
  }[];
}

/** The metrics of a process. Their labels are bounded, whatever they hold. */
export class ServerMetrics implements Meter {
  readonly #registry = new Registry();
  readonly #instruments = new Map<MeasureName, (labels: Labels, value: number) => void>();

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const [name, { kind, help, labels }] of Object.entries(measures)) {
      const common = { help, labelNames: [...labels], registers: [this.#registry] };
      const set = createInstrument(name, kind, common);
      const bounded = new BoundedLabels();
      this.#instruments.set(name as MeasureName, (given, value) => set(bounded.bound(given), value));
    }
  }

  record<N extends MeasureName>(name: N, labels: MeasureLabels<N>, value = 1): void {
    this.#instruments.get(name)?.(labels, value);
  }

  /** All of it, in Prometheus' text format 0.0.4. */
  formatForPrometheus(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Content type of that text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** What Busdriver itself measures, as Spectator's endpoint in Spinnaker's services shows it. @param nowMs epoch milliseconds */
  async formatForSpectator(nowMs: number): Promise<string> {
    const metrics: { [name: string]: SpectatorMetric } = {};
    for (const { name, values } of await this.#registry.getMetricsAsJSON()) {
      const measure = Object.keys(measures).find((each) => name === toPrometheusName(each as MeasureName));
      if (measure === undefined) continue;
      const { kind } = measures[measure as MeasureName];
      metrics[measure.replaceAll('_', '.')] = {
        kind: kind === 'timer' ? 'Timer' : kind === 'counter' ? 'Counter' : 'Gauge',
        values: values.map((each) => {
          const isSum = 'metricName' in each && String(each.metricName).endsWith('_sum');
          const statistic = isSum ? 'totalTime' : 'count';
          const labels = { ...each.labels, ...(kind !== 'gauge' && { statistic }) };
          const tags = Object.entries(labels).map(([key, value]) => ({ key, value: String(value) }));
          // Spectator has nanoseconds.
          return { tags, values: [{ t: nowMs, v: isSum ? each.value * 1e9 : each.value }] };
        }),
      };
    }
    return JSON.stringify({ applicationName: 'clouddriver', metrics });
  }
}

function toPrometheusName(name: MeasureName): string {
  const { kind } = measures[name];
  return kind === 'timer' ? `${name}_seconds` : kind === 'counter' ? `${name}_total` : name;
}

function createInstrument(
  measure: string,
  kind: 'timer' | 'counter' | 'gauge',
  common: { help: string; labelNames: string[]; registers: Registry[] },
): (labels: Labels, value: number) => void {
  const options = { ...common, name: toPrometheusName(measure as MeasureName) };
  if (kind === 'timer') {
    // Of means alone: buckets of all labels would be too many.
    const summary = new Summary({ ...options, percentiles: [] });
    return (labels, value) => summary.observe(labels, value);
  }
  if (kind === 'counter') {
    const counter = new Counter(options);
    return (labels, value) => counter.inc(labels, value);
  }
  const gauge = new Gauge(options);
  return (labels, value) => gauge.set(labels, value);
}
