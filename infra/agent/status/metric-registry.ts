/** Series of one metric at most: further values of its label are counted together, as those of `other`. */
export const seriesMax = 1_000;

/** Characters of a label's value that are shown. */
const labelLengthMax = 253;

/** Name and meaning of a metric, with the name of its label if it has one. */
export interface MetricDescription {
  /** By the rules of Prometheus: letters, digits and underscores. */
  readonly name: string;
  /** One line. */
  readonly help: string;
  readonly label?: string | undefined;
}

/** Something that writes itself as Prometheus reads it. */
interface Metric {
  /** Lines, without line ends. */
  format(): readonly string[];
}

/** The values of a metric by the value of its label; of one without a label there is one, that of the empty text. */
class Series<T> {
  readonly #values = new Map<string, T>();
  readonly #create: () => T;

  constructor(create: () => T) {
    this.#create = create;
  }

  get(value: string): T {
    const isNew = !this.#values.has(value) && this.#values.size >= seriesMax - 1;
    const key = isNew ? 'other' : value.slice(0, labelLengthMax);
    const found = this.#values.get(key) ?? this.#create();
    this.#values.set(key, found);
    return found;
  }

  entries(): Iterable<readonly [string, T]> {
    return this.#values.entries();
  }
}

/** A number that only grows, or one that goes up and down. */
export class NumberMetric implements Metric {
  readonly #description: MetricDescription;
  readonly #type: 'counter' | 'gauge';
  readonly #series = new Series(() => ({ value: 0 }));

  constructor(type: 'counter' | 'gauge', description: MetricDescription) {
    this.#type = type;
    this.#description = description;
    if (description.label === undefined) this.#series.get('');
  }

  /** @param labelValue whose number it is, where the metric has a label */
  add(amount: number, labelValue = ''): void {
    this.#series.get(labelValue).value += amount;
  }

  /** Of a gauge. */
  set(value: number, labelValue = ''): void {
    this.#series.get(labelValue).value = value;
  }

  format(): readonly string[] {
    const { name, label } = this.#description;
    const lines = [...this.#series.entries()].map(
      ([key, { value }]) =>
        `${name}${formatLabels(label === undefined ? [] : [[label, key]])} ${formatNumber(value)}`,
    );
    return [...formatHead(this.#description, this.#type), ...lines];
  }
}

/** How values are spread. */
export class HistogramMetric implements Metric {
  readonly #description: Omit<MetricDescription, 'label'>;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** @param bounds upper bounds of the buckets, rising */
  constructor(description: Omit<MetricDescription, 'label'>, bounds: readonly number[]) {
    this.#description = description;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  /** Counts a value. */
  observe(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  format(): readonly string[] {
    const { name } = this.#description;
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return `${name}_bucket${formatLabels([['le', formatNumber(bound)]])} ${below}`;
    });
    return [
      ...formatHead(this.#description, 'histogram'),
      ...buckets,
      `${name}_bucket${formatLabels([['le', '+Inf']])} ${this.#count}`,
      `${name}_sum ${formatNumber(this.#sum)}`,
      `${name}_count ${this.#count}`,
    ];
  }
}

/** The text of metrics in Prometheus' format 0.0.4. */
export function formatMetrics(metrics: readonly Metric[]): string {
  return `${metrics.flatMap((metric) => metric.format()).join('\n')}\n`;
}

/** The content type of the text for Prometheus. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

function formatHead({ name, help }: MetricDescription, type: string): readonly string[] {
  return [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`];
}

function formatLabels(labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escapeText(value).replaceAll('"', '\\"')}"`).join(',')}}`;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
