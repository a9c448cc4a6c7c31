import type { AgentKey } from '../../core/agents/agent-store.ts';
import { findDeadHintReason } from '../../core/agents/dead-hint.ts';
import type { LogFields } from '../../core/logger.ts';
import { type DeadLetterReason, deadLettersMetric } from '../../core/metrics.ts';
import type { Config } from '../config.ts';
import type { AgentStoreContext } from '../context/agent-store-context.ts';
import type { BaseContext } from '../context/base-context.ts';
import { createMetricWriter } from '../context/metric-writer.ts';
import type { Delivery } from './queue-handler.ts';

/** Tells, by a line and a metric, why a message for agents became a dead letter. */
export async function tellDeadHint(
  { agents, deliveries }: { readonly agents: readonly AgentKey[] } & Pick<Delivery, 'deliveries'>,
  context: AgentStoreContext,
): Promise<void> {
  const reason = findDeadHintReason(await context.agents.list(), agents, context.clock.now());
  tellDeadLetter(context, reason, { agents, deliveries });
}

/** Tells, by a line and a metric, why a message became a dead letter. @param fields what tells it from others */
export function tellDeadLetter(
  context: Pick<BaseContext, 'log' | 'clock'> & { readonly config: Pick<Config, 'logLevel'> },
  reason: DeadLetterReason,
  fields: LogFields,
): void {
  const { log, clock, config } = context;
  const { metricName, reasonDimension } = deadLettersMetric;
  const level = reason === 'settled' ? 'info' : 'error';
  log[level]('a message became a dead letter', { reason, ...fields });
  const write = createMetricWriter({ clock, logLevel: config.logLevel });
  write([{ metricName, unit: 'Count', value: 1 }], { [reasonDimension]: reason });
}
