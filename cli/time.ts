const units = [
  { ms: 86_400_000, unit: 'd' },
  { ms: 3_600_000, unit: 'h' },
  { ms: 60_000, unit: 'm' },
] as const;

/** A duration in its largest unit: `0.4s`, `12s`, `3m`, `2h`, `5d`. @param ms 0 or more */
export function formatDuration(ms: number): string {
  const fitting = units.find((each) => ms >= each.ms);
  if (fitting !== undefined) return `${Math.floor(ms / fitting.ms)}${fitting.unit}`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : `${Math.floor(ms / 1_000)}s`;
}
