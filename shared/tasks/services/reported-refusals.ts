import { reportedRefusalsMetric } from '#core/metrics.ts';
import { createMetricWriter } from '#platform/services/metric-writer.ts';
import type { OperationsServices } from './operations.ts';

/** Counts a request for operations that `busdriver.checkApplication: enforce` would have refused. */
export function countReportedRefusal({ clock, config, all }: OperationsServices): void {
  const write = createMetricWriter({ clock, logLevel: config.logLevel, environment: all.environment });
  write([{ ...reportedRefusalsMetric, unit: 'Count', value: 1 }]);
}
