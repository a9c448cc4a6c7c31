import { isAhead } from '#core/clock.ts';

/** This Busdriver, or the Clouddriver behind it. */
export type Side = 'ours' | 'theirs';

/** Who runs the operations of an account, as it is stored for all processes. */
export interface AccountOwner {
  readonly owner: Side;
  /** Who takes it over once nothing that the owner accepted is running. Undefined while it stays. */
  readonly next?: Side | undefined;
  /** Grows with each change. */
  readonly version: number;
}

/** Operations of an account that one side was given, and that may still run. */
export interface GivenOperations {
  /** Of the request: the same for a repeated `clientRequestId`. */
  readonly id: string;
  readonly side: Side;
  /** The task upstream; undefined until it is known. */
  readonly taskId?: string | undefined;
}

/** Owners of accounts, and what they were given, in a durable store. Each change of an owner is one conditional write. */
export interface OwnerStore {
  find(account: string): Promise<AccountOwner | undefined>;
  /** Writes the owner over the one that was seen; undefined when another process was faster. */
  replace(
    account: string,
    change: { readonly seen: AccountOwner | undefined; readonly next: Omit<AccountOwner, 'version'> },
  ): Promise<AccountOwner | undefined>;
  /** Notes operations before they are given; false when they are noted already. */
  note(account: string, operations: GivenOperations): Promise<boolean>;
  /** Notes the task that they became upstream, with its accounts. */
  noteTask(accounts: readonly string[], operations: GivenOperations): Promise<void>;
  /** Forgets them: they have ended, or were never begun. */
  forget(account: string, id: string): Promise<void>;
  /** What is noted of an account. */
  list(account: string): Promise<readonly GivenOperations[]>;
  /** The accounts of a task upstream; undefined where this side did not start it, or longer than a day ago. */
  findTaskAccounts(taskId: string): Promise<readonly string[] | undefined>;
}

/** What a process saw of an account. */
export interface SeenOwner {
  /** Whom its settings named, and the version of the owner, when both agreed. */
  readonly wanted: Side;
  readonly version: number;
  /** Wall time since which they disagree, milliseconds. */
  readonly disagreesSinceMs?: number | undefined;
}

/** Milliseconds after which all processes have the same settings, far longer than they take. */
export const settingsSpreadMs = 5 * 60_000;

/**
 * What to write of an account whose owner should be `wanted` by the settings of this process; undefined where the stored owner counts. It
 * does while another process has changed it and the settings here have not changed since: they are the older ones, for as long as
 * settings need to spread.
 */
export function findOwnerChange(
  stored: AccountOwner | undefined,
  {
    wanted,
    seen,
    nowMs,
  }: { readonly wanted: Side; readonly seen: SeenOwner | undefined; readonly nowMs: number },
): Omit<AccountOwner, 'version'> | undefined {
  if (stored === undefined) return { owner: wanted };
  if (isWanted(stored, wanted)) return undefined;
  const isOlder = seen?.wanted === wanted && seen.version < stored.version;
  const { disagreesSinceMs = nowMs } = seen ?? {};
  if (isOlder && isAhead(disagreesSinceMs + settingsSpreadMs, nowMs, settingsSpreadMs)) return undefined;
  return stored.owner === wanted ? { owner: wanted } : { owner: stored.owner, next: wanted };
}

/** Whether an account has the owner that the settings name, or will have. */
export function isWanted({ owner, next = owner }: AccountOwner, wanted: Side): boolean {
  return next === wanted;
}
