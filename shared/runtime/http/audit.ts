import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import { type AuditRecord, toAuditEvent, toAuditFields } from '../../core/tasks/audit.ts';
import type { EventBus } from '../../core/tasks/task-events.ts';
import { openBaseContext } from '../context/base-context.ts';
import { openLateBus } from '../context/late-bus.ts';

/**
 * Refusals that a process publishes in a second at the most, and as many other records: a flood of refusals becomes neither one of
 * events, nor hides among them what was allowed. The log has all.
 */
export const auditEventsPerSecond = 20;

/** Milliseconds for which a process waits until the bus has taken a record. */
export const auditPublishMs = 2_000;

/** What records go to. */
export interface AuditTargets {
  readonly log: Logger;
  readonly bus: EventBus;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** Writes records down. Never throws: what cannot be published is in the log. */
export class Audit {
  readonly #targets: AuditTargets;
  /** Records that were published in a second, by whether they are refusals. */
  readonly #turns = { refused: { second: 0, taken: 0 }, other: { second: 0, taken: 0 } };

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
    if (isTold || !this.#takeTurn(record, clock.now())) return;
    const waiting = new AbortController();
    const enough = clock.sleep(auditPublishMs, waiting.signal).then(() => {
      throw new Error(`the bus did not answer within ${auditPublishMs} ms`);
    });
    try {
      await Promise.race([bus.publish([toAuditEvent(record, clock.now())]), enough]);
    } catch (error) {
      log.error('an audit event could not be published; the log has it', { action: record.action, error });
    } finally {
      waiting.abort();
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

let opened: Audit | undefined;

/** The audit of this process, made on first use. */
export function openAudit(): Audit {
  opened ??= createAudit();
  return opened;
}

function createAudit(): Audit {
  const base = openBaseContext();
  return new Audit({ log: base.log, bus: openLateBus(base), clock: base.clock });
}
