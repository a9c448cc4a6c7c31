import type { UserPermission } from '../../core/access/authorizer.ts';
import type { Clock } from '../../core/clock.ts';
import { countNames } from './answers.ts';

/** Accounts, applications and roles of all kept permissions together: some 50 MB. */
export const keptNamesMax = 500_000;

/** How much is kept. */
export interface KeptPermissionsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Users at most. */
  readonly usersMax: number;
  /** Milliseconds after which a permission is of no use to anybody. */
  readonly longestMs: number;
  /** Accounts, applications and roles of all of them together at most. Default `keptNamesMax`. */
  readonly namesMax?: number;
}

interface Kept {
  readonly permission: UserPermission;
  readonly atMs: number;
  readonly names: number;
  /** When the last request for a newer one failed. */
  failedAtMs: number;
}

/** Permissions by user, those that were told last. */
export class KeptPermissions {
  readonly #options: KeptPermissionsOptions;
  /** The oldest comes first. */
  readonly #kept = new Map<string, Kept>();
  #names = 0;

  constructor(options: KeptPermissionsOptions) {
    this.#options = options;
  }

  /** What was told of a user within the last `ageMs` milliseconds; undefined when that is nothing. */
  find(user: string, ageMs: number): UserPermission | undefined {
    const kept = this.#kept.get(user);
    return kept !== undefined && this.#getAge(kept.atMs) < ageMs ? kept.permission : undefined;
  }

  /** Notes that a request for a newer permission of the user failed just now. */
  noteFailure(user: string): void {
    const kept = this.#kept.get(user);
    if (kept !== undefined) kept.failedAtMs = this.#options.clock.now();
  }

  /** Whether that was noted within the last `ageMs` milliseconds. */
  hasFailed(user: string, ageMs: number): boolean {
    const failedAtMs = this.#kept.get(user)?.failedAtMs ?? Number.NEGATIVE_INFINITY;
    return this.#getAge(failedAtMs) < ageMs;
  }

  /** Keeps what was told of a user now. Who was told of longest ago gives way. */
  keep(user: string, permission: UserPermission): void {
    this.#drop(user);
    const kept = {
      permission,
      atMs: this.#options.clock.now(),
      names: countNames(permission),
      failedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#kept.set(user, kept);
    this.#names += kept.names;
    for (const [oldest, entry] of this.#kept) {
      if (!this.#isTooMuch() && this.#getAge(entry.atMs) < this.#options.longestMs) return;
      this.#drop(oldest);
    }
  }

  #isTooMuch(): boolean {
    const { usersMax, namesMax = keptNamesMax } = this.#options;
    return this.#kept.size > usersMax || this.#names > namesMax;
  }

  #drop(user: string): void {
    this.#names -= this.#kept.get(user)?.names ?? 0;
    this.#kept.delete(user);
  }

  /** By wall time: Lambda stops a process between its invocations, and a monotonic clock with it. One turned back counts as time passed. */
  #getAge(sinceMs: number): number {
    return Math.abs(this.#options.clock.now() - sinceMs);
  }
}
