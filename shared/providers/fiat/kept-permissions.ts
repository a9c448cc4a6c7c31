import type { UserPermission } from '#access/authorizer.ts';
import type { Clock } from '#core/clock.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { estimateBytes } from './answers.ts';

/** How much is kept. */
export interface KeptPermissionsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Users at most. */
  readonly usersMax: number;
  /** Milliseconds after which a permission is of no use to anybody. */
  readonly longestMs: number;
  /** What this process may remember. Default: its own. */
  readonly remembered?: RememberedBytes;
}

interface Kept {
  readonly permission: UserPermission;
  readonly atMs: number;
  /** When the last request for a newer one failed. */
  failedAtMs: number;
}

/** Permissions by user, as far as there is memory for them. */
export class KeptPermissions {
  readonly #options: KeptPermissionsOptions;
  readonly #remembered: RememberedBytes;
  /** The oldest comes first. */
  readonly #kept = new Map<string, Kept>();

  constructor(options: KeptPermissionsOptions) {
    this.#options = options;
    this.#remembered = options.remembered ?? new RememberedBytes();
  }

  /** What was told of a user within the last `ageMs` milliseconds; undefined when that is nothing. */
  find(user: string, ageMs: number): UserPermission | undefined {
    const kept = this.#kept.get(user);
    if (kept === undefined || this.#getAge(kept.atMs) >= ageMs) return undefined;
    this.#remembered.use(kept);
    return kept.permission;
  }

  /** Notes that a request for a newer permission of the user failed just now. */
  recordFailure(user: string): void {
    const kept = this.#kept.get(user);
    if (kept !== undefined) kept.failedAtMs = this.#options.clock.now();
  }

  /** Whether that was noted within the last `ageMs` milliseconds. */
  hasFailed(user: string, ageMs: number): boolean {
    const failedAtMs = this.#kept.get(user)?.failedAtMs ?? Number.NEGATIVE_INFINITY;
    return this.#getAge(failedAtMs) < ageMs;
  }

  /** Keeps what was told of a user now. Of too many users those that were told of longest ago give way. */
  keep(user: string, permission: UserPermission): void {
    this.#drop(user);
    const kept = {
      permission,
      atMs: this.#options.clock.now(),
      failedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#kept.set(user, kept);
    this.#remembered.keep(kept, estimateBytes(permission), () => this.#kept.delete(user));
    for (const [oldest, entry] of this.#kept) {
      const { usersMax, longestMs } = this.#options;
      if (this.#kept.size <= usersMax && this.#getAge(entry.atMs) < longestMs) return;
      this.#drop(oldest);
    }
  }

  #drop(user: string): void {
    const kept = this.#kept.get(user);
    if (kept !== undefined) this.#remembered.drop(kept);
    this.#kept.delete(user);
  }

  /** By wall time: Lambda stops a process between its invocations, and a monotonic clock with it. One turned back counts as time passed. */
  #getAge(sinceMs: number): number {
    return Math.abs(this.#options.clock.now() - sinceMs);
  }
}
