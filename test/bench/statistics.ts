export interface Summary {
  readonly n: number;
  readonly minimum: number;
  readonly p25: number;
  readonly median: number;
  readonly p75: number;
  readonly p95: number;
  readonly maximum: number;
}

/**
 * Summarises samples. Percentiles are the nearest rank.
 *
 * @throws Error when there is none
 */
export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new Error('there is no sample to summarise');
  const sorted = [...samples].sort((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return {
    n: sorted.length,
    minimum: at(0),
    p25: at(0.25),
    median: at(0.5),
    p75: at(0.75),
    p95: at(0.95),
    maximum: at(1),
  };
}

/** Milliseconds that `work` takes. */
export async function measure(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
