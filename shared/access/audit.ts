import type { BusEvent } from '#platform/ports/event-bus.ts';

/** A record of an act that someone may have to answer for. It never holds a secret, a manifest or a description. */
export interface AuditRecord {
  /** `startOperations`, `readSecret`, `readConsole`, `deleteJob`, `changeTask`, `changeAccount`, `changeAgent`; else the refused route. */
  readonly action: string;
  /** `allowed`: done. `refused`: the caller may not, or could not prove their identity. `failed`: tried without success. */
  readonly outcome: 'allowed' | 'refused' | 'failed';
  /** Status of the answer. */
  readonly status: number;
  /** The user, as the installation identifies callers; undefined where they did not say, or could not prove it. */
  readonly user?: string | undefined;
  /** The unproven user, of a request that was refused for lack of proof. */
  readonly claimedUser?: string | undefined;
  /** The account; the first of several. */
  readonly account?: string | undefined;
  /** All accounts, where there are several. */
  readonly accounts?: readonly string[] | undefined;
  /** Names of the posted operations. Those of a refused request, and its accounts, are as the caller wrote them. */
  readonly operations?: readonly string[] | undefined;
  /** Whether the values of a Secret that was read were `shown`, or `masked`. */
  readonly values?: 'shown' | 'masked' | undefined;
  readonly application?: string | undefined;
  /** Set where it went to the Clouddriver behind this one. */
  readonly forwarded?: 'upstream' | undefined;
  /** The refusals that `busdriver.checkApplication: enforce` would have made of operations that are only reported. */
  readonly wouldRefuse?: readonly string[] | undefined;
  /** The object, task or container that it was about: names only. */
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
  | 'action'
  | 'account'
  | 'accounts'
  | 'application'
  | 'forwarded'
  | 'location'
  | 'name'
  | 'operations'
  | 'taskId'
  | 'values'
  | 'wouldRefuse'
>;

/** Type of the events with records (EventBridge's `detail-type`). */
export const auditEventType = 'Audit';

/** Characters of a record's value that are published: callers make values up. */
export const auditValueLengthMax = 512;

/** Items of a record's list that are published. */
export const auditListMax = 20;

/** The event of a record. Values and lists that callers made up are cut. */
export function toAuditEvent(record: AuditRecord, atMs: number): BusEvent {
  return { type: auditEventType, atMs, detail: toAuditFields(record) };
}

/** The record's fields in the log. */
export function toAuditFields(record: AuditRecord): {
  readonly [name: string]: string | number | readonly string[];
} {
  const told = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told.map(([name, value]) => [name, cut(value)]));
}

function cut(value: string | number | readonly string[]): string | number | readonly string[] {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return value.slice(0, auditValueLengthMax);
  return value.slice(0, auditListMax).map((item) => item.slice(0, auditValueLengthMax));
}
