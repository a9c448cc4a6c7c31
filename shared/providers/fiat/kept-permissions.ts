import type { UserPermission } from '#access/authorizer.ts';
import type { Clock } from '#core/clock.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { estimateBytes } from './answers.ts';

/** Limits of what is kept. */
interface KeptPermissionsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The most users. */
  readonly usersMax: number;
  /** Milliseconds after which a permission is useless. */
  readonly longestMs: number;
  /** What this process may remember. Default: its own. */
  readonly remembered?: RememberedBytes | undefined;
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

  /** The permission of a user from the last `ageMs` milliseconds; undefined if there is none. */
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

  /** Keeps a user's new permission, and returns it. If there are too many users, the oldest permissions are dropped. */
  keep(user: string, permission: UserPermission): UserPermission {
    this.#drop(user);
    const kept = { permission, atMs: this.#options.clock.now(), failedAtMs: Number.NEGATIVE_INFINITY };
    this.#kept.set(user, kept);
    this.#remembered.keep(kept, estimateBytes(permission), () => this.#kept.delete(user));
    for (const [oldest, entry] of this.#kept) {
      const { usersMax, longestMs } = this.#options;
      if (this.#kept.size <= usersMax && this.#getAge(entry.atMs) < longestMs) break;
      this.#drop(oldest);
    }
    return permission;
  }

  #drop(user: string): void {
    const kept = this.#kept.get(user);
    if (kept !== undefined) this.#remembered.drop(kept);
    this.#kept.delete(user);
  }

  /** By wall time: Lambda stops a process between invocations, and its monotonic clock, too. A clock set back counts as time passed. */
  #getAge(sinceMs: number): number {
    return Math.abs(this.#options.clock.now() - sinceMs);
  }
}
