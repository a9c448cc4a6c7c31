/** A sample of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: { readonly [name: string]: string };
  readonly value: number;
}

/** A metric as a text told it. */
export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;

/**
 * Reads Prometheus' text format 0.0.4, more strictly than Prometheus does: help and type stand once and before all samples of a metric,
 * these stand together, no series stands twice, and buckets rise to `+Inf`, which equals the count.
 *
 * @throws Error naming the line
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  const series = new Set<string>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    // Some writers set metrics apart.
    if (line === '') continue;
    const head = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (head !== null) {
      const [, what, name = '', rest = ''] = head;
      if (!nameForm.test(name)) throw new Error(`no name: ${line}`);
      const known = families.get(name);
      if (what === 'HELP' && known !== undefined) throw new Error(`twice: ${line}`);
      if (what === 'TYPE' && (name !== current || known?.type !== ''))
        throw new Error(`not in order: ${line}`);
      families.set(name, {
        samples: [],
        help: '',
        type: '',
        ...known,
        [what === 'HELP' ? 'help' : 'type']: rest,
      });
      current = name;
      continue;
    }
    const sample = parseSample(line);
    const family = families.get(current);
    if (family === undefined || !belongs(sample.name, current, family.type))
      throw new Error(`of another metric: ${line}`);
    const key = line.slice(0, line.lastIndexOf(' '));
    if (series.has(key)) throw new Error(`a series twice: ${line}`);
    series.add(key);
    family.samples.push(sample);
  }
  for (const [name, { type, samples }] of families) {
    if (type !== 'histogram') continue;
    const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
    for (const each of series.values()) checkBuckets(name, each);
  }
  return families;
}

function parseSample(line: string): Sample {
  const [, name = '', labelText = '', number = ''] = sampleForm.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === '' || number === '' || (Number.isNaN(value) && !/^nan$/i.test(number)))
    throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  labelForm.lastIndex = 0;
  while (labelForm.lastIndex < labelText.length) {
    const label = labelForm.exec(labelText);
    if (label === null) throw new Error(`no labels: ${line}`);
    labels[label[1] ?? ''] = (label[2] ?? '').replaceAll(/\\(.)/g, (_, letter: string) =>
      letter === 'n' ? '\n' : letter,
    );
  }
  return { name, labels, value };
}

function belongs(sample: string, family: string, type: string): boolean {
  if (type === 'summary') return ['', '_sum', '_count'].some((suffix) => sample === family + suffix);
  if (type !== 'histogram') return sample === family;
  return ['_bucket', '_sum', '_count'].some((suffix) => sample === family + suffix);
}

function checkBuckets(name: string, samples: readonly Sample[]): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels }) =>
    labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']),
  );
  const rises = (numbers: readonly number[], least: number) =>
    numbers.every((number, index) => index === 0 || number - (numbers[index - 1] ?? 0) >= least);
  const count = samples.find((sample) => sample.name === `${name}_count`)?.value;
  const isGood =
    rises(bounds, Number.MIN_VALUE) &&
    rises(
      buckets.map(({ value }) => value),
      0,
    ) &&
    bounds.at(-1) === Number.POSITIVE_INFINITY &&
    buckets.at(-1)?.value === count;
  if (!isGood) throw new Error(`the buckets of ${name} do not rise to its count`);
}
