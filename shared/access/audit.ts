import type { BusEvent } from '#platform/ports/event-bus.ts';

/** What is recorded of an act that matters to who must answer for it later. It never holds a secret, a manifest or a description. */
export interface AuditRecord {
  /** `startOperations`, `readSecret`, `readConsole`, `deleteJob`, `changeTask`, `changeAccount`, `changeAgent`; of any other refusal the route: `GET /task/{id}`. */
  readonly action: string;
  /** `allowed`: it was done. `refused`: the caller may not, or could not prove who he is. `failed`: it was tried and did not succeed. */
  readonly outcome: 'allowed' | 'refused' | 'failed';
  /** Status that was answered. */
  readonly status: number;
  /** Who it was, as the installation knows callers; undefined where he did not say, or could not prove it. */
  readonly user?: string | undefined;
  /** Who said so without proof, of a request that was refused for the want of it. */
  readonly claimedUser?: string | undefined;
  /** Of several accounts the first. */
  readonly account?: string | undefined;
  /** All accounts, where there are several. */
  readonly accounts?: readonly string[] | undefined;
  /** Names of the operations that were posted. Of a refused request these, and its accounts, are as the caller wrote them. */
  readonly operations?: readonly string[] | undefined;
  /** Whether the values of a Secret that was read were `shown`, or `masked`. */
  readonly values?: 'shown' | 'masked' | undefined;
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

/** An act for the audit. */
export type AuditedAct = Pick<
  AuditRecord,
  'action' | 'account' | 'accounts' | 'application' | 'location' | 'name' | 'operations' | 'taskId' | 'values'
>;

/** Type of the events that tell records (EventBridge's `detail-type`). */
export const auditEventType = 'Audit';

/** Characters of a value of a record that are told: callers make values up. */
export const auditValueLengthMax = 512;

/** Items of a list of a record that are told. */
export const auditListMax = 20;

/** The event that tells a record. Values and lists that callers made up are cut. */
export function toAuditEvent(record: AuditRecord, atMs: number): BusEvent {
  return { type: auditEventType, atMs, detail: toAuditFields(record) };
}

/** The record as the log tells it. */
export function toAuditFields(record: AuditRecord): AuditFields {
  const told = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told.map(([name, value]) => [name, cut(value)]));
}

/** Members of a record that are told. */
export interface AuditFields {
  readonly [name: string]: string | number | readonly string[];
}

function cut(value: string | number | readonly string[]): string | number | readonly string[] {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return value.slice(0, auditValueLengthMax);
  return value.slice(0, auditListMax).map((item) => item.slice(0, auditValueLengthMax));
}
