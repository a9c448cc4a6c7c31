import type { CachingAgentKey } from '#caching/scheduling/caching-agent-store.ts';
import { findDeadMessageReason } from '#caching/scheduling/dead-message.ts';
import type { CachingAgentStoreServices } from '#caching/services/caching-agent-store.ts';
import type { LogFields } from '#core/logger.ts';
import { type DeadLetterReason, deadLettersMetric } from '#core/metrics.ts';
import type { Config } from '#platform/config.ts';
import type { BaseServices } from '#platform/services/base.ts';
import { createMetricWriter } from '#platform/services/metric-writer.ts';
import type { Delivery } from './queue-handler.ts';

/** Logs why a message for caching agents became a dead letter, and counts it in a metric. */
export async function reportDeadMessage(
  { agents, deliveries }: { readonly agents: readonly CachingAgentKey[] } & Pick<Delivery, 'deliveries'>,
  services: CachingAgentStoreServices,
): Promise<void> {
  const reason = findDeadMessageReason(await services.agents.list(), agents, services.clock.now());
  tellDeadLetter(services, reason, { agents, deliveries });
}

/** Logs why a message became a dead letter, and counts it in a metric. @param fields log fields that identify it */
export function tellDeadLetter(
  services: Pick<BaseServices, 'log' | 'clock' | 'all'> & { readonly config: Pick<Config, 'logLevel'> },
  reason: DeadLetterReason,
  fields: LogFields,
): void {
  const { log, clock, config, all } = services;
  const { metricName, reasonDimension } = deadLettersMetric;
  const level = reason === 'settled' ? 'info' : 'error';
  log[level]('a message became a dead letter', { reason, ...fields });
  const write = createMetricWriter({
    clock,
    logLevel: config.logLevel,
    environment: all.environment,
  });
  write([{ metricName, unit: 'Count', value: 1 }], { [reasonDimension]: reason });
}
