import { type AuditRecord, toAuditEvent, toAuditFields } from '../core/audit.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../core/task-events.ts';
import { openBaseContext } from './base-context.ts';
import { createLateBus } from './late-bus.ts';

/** Records that a process publishes in a second at the most, so that a flood of refusals does not become one of events. The log has all. */
export const auditEventsPerSecond = 20;

/** What records go to. */
export interface AuditTargets {
  readonly log: Logger;
  readonly bus: EventBus;
  readonly clock: Pick<Clock, 'now'>;
}

/** Writes records down. Never throws: what cannot be published is in the log. */
export class Audit {
  readonly #targets: AuditTargets;
  #second = 0;
  #published = 0;

  constructor(targets: AuditTargets) {
    this.#targets = targets;
  }

  /**
   * Logs a record, and publishes it as an event. Operations that were accepted are logged alone: `TaskAccepted`, `TaskCompleted`
   * and `TaskFailed` tell of them on the bus.
   */
  async record(record: AuditRecord): Promise<void> {
    const { log, bus, clock } = this.#targets;
    log.info('audit', { audit: toAuditFields(record) });
    const isTold = record.action === 'startOperations' && record.outcome === 'allowed';
    if (isTold || !this.#takeTurn(clock.now())) return;
    try {
      await bus.publish([toAuditEvent(record, clock.now())]);
    } catch (error) {
      log.error('an audit event could not be published; the log has it', { action: record.action, error });
    }
  }

  #takeTurn(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) this.#published = 0;
    this.#second = second;
    this.#published += 1;
    return this.#published <= auditEventsPerSecond;
  }
}

let opened: Audit | undefined;

/** The audit of this process, made on first use. */
export function openAudit(): Audit {
  opened ??= createAudit();
  return opened;
}

function createAudit(): Audit {
  const { config, clock, log } = openBaseContext();
  return new Audit({ log, bus: createLateBus(config), clock });
}
