import type { BusEvent } from './task-events.ts';

/** What is recorded of an act that matters to who must answer for it later. It never holds a secret, a manifest or a description. */
export interface AuditRecord {
  /** `startOperations`, `readSecret`, `readConsole`, `deleteJob`, `changeTask`; of a refusal the route: `GET /task/{id}`. */
  readonly action: string;
  /** `allowed`: it was done. `refused`: the caller may not, or could not prove who he is. `failed`: it was tried in vain. */
  readonly outcome: 'allowed' | 'refused' | 'failed';
  /** Status that was answered. */
  readonly status: number;
  /** Undefined where the caller did not say. */
  readonly user?: string | undefined;
  readonly account?: string | undefined;
  readonly application?: string | undefined;
  /** The object, task or container that it was about: names alone. */
  readonly location?: string | undefined;
  readonly name?: string | undefined;
  readonly taskId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly executionId?: string | undefined;
  /** Address of the caller, as the front door saw it. */
  readonly sourceIp?: string | undefined;
  /** Why it was refused. */
  readonly reason?: string | undefined;
}

/** Type of the events that tell records (EventBridge's `detail-type`). */
export const auditEventType = 'Audit';

/** Characters of a value that come from the caller. */
const valueLengthMax = 512;

/** The event that tells a record. Values that callers made up are cut to 512 characters. */
export function toAuditEvent(record: AuditRecord, atMs: number): BusEvent {
  return { type: auditEventType, atMs, detail: toAuditFields(record) };
}

/** The record as the log tells it. */
export function toAuditFields(record: AuditRecord): { readonly [name: string]: string | number } {
  const told = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    told.map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, valueLengthMax) : value]),
  );
}
