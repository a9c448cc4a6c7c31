import type { Clock } from '#core/clock.ts';
import { within } from '#core/deadline.ts';
import type { Logger } from '#core/logger.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import { openBase } from '#platform/services/base.ts';
import { openLateBus } from '#platform/services/late-bus.ts';
import type { Services } from '#platform/services/services.ts';
import { type AuditRecord, toAuditEvent, toAuditFields } from '../audit.ts';

/** Refusals that a process publishes a second at most, and as many other records: a flood hides nothing. The log has all of them. */
export const auditEventsPerSecond = 20;

/** Milliseconds for which a process waits until the bus takes a record. */
export const auditPublishMs = 2_000;

/** Where records go. */
export interface AuditTargets {
  readonly log: Logger;
  readonly bus: EventBus;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** Writes records. Never throws: what cannot be published is in the log. */
export class Audit {
  readonly #targets: AuditTargets;
  /** Records published in the current second, separately for refusals. */
  readonly #turns = { refused: { second: 0, taken: 0 }, other: { second: 0, taken: 0 } };

  constructor(targets: AuditTargets) {
    this.#targets = targets;
  }

  /** Logs a record, and publishes it unless it is an operation accepted here: of those the bus has the events of the task. */
  async record(record: AuditRecord): Promise<void> {
    const { log, bus, clock } = this.#targets;
    log.info('audit', { audit: toAuditFields(record) });
    const { action, outcome, forwarded } = record;
    const isTold = action === 'startOperations' && outcome === 'allowed' && forwarded === undefined;
    if (isTold || !this.#takeTurn(record, clock.now())) return;
    try {
      const deadline = { ms: auditPublishMs, what: 'publishing an audit event' };
      await within(clock, deadline, () => bus.publish([toAuditEvent(record, clock.now())]));
    } catch (error) {
      log.error('an audit event could not be published; the log has it', { action: record.action, error });
    }
  }

  #takeTurn({ outcome }: AuditRecord, nowMs: number): boolean {
    const turn = this.#turns[outcome === 'refused' ? 'refused' : 'other'];
    const second = Math.floor(nowMs / 1000);
    if (second !== turn.second) turn.taken = 0;
    turn.second = second;
    turn.taken += 1;
    return turn.taken <= auditEventsPerSecond;
  }
}

/** The audit of an installation. */
export function openAudit(services: Services): Audit {
  return services.get(createAudit);
}

function createAudit(services: Services): Audit {
  const { log, clock } = openBase(services);
  return new Audit({ log, bus: openLateBus(services), clock });
}
