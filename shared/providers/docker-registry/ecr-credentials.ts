import type { Clock } from '#core/clock.ts';
import type { BasicCredentials } from '#oci/credentials.ts';
import type { EcrToken } from '#platform/ports/ecr.ts';

/** Share of a token's time after which the next one is asked for. */
const renewalShare = 0.8;

/** A token that was refused is used again all the same when it is no older than this, milliseconds. */
const refusalPauseMs = 10_000;

/** Milliseconds for a token. */
const tokenTimeoutMs = 30_000;

/** What tokens are asked with. */
export interface EcrCredentialsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Asks ECR for a token. */
  ask(signal: AbortSignal): Promise<EcrToken>;
}

interface Held extends EcrToken {
  readonly askedAtMs: number;
}

/** The tokens of a registry of ECR: one is used for most of the 12 hours that it holds, and one is asked for at a time. */
export function createEcrCredentials({ clock, ask }: EcrCredentialsOptions): BasicCredentials {
  let held: Held | undefined;
  let asking: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    const askedAtMs = clock.now();
    try {
      held = { ...(await ask(AbortSignal.timeout(tokenTimeoutMs))), askedAtMs };
    } catch (error) {
      // The one before still holds for a fifth of its time.
      if (held === undefined || held.expiresAtMs <= clock.now()) throw error;
    }
    return held.basic;
  };
  return {
    get() {
      if (asking !== undefined) return asking;
      const now = clock.now();
      if (held !== undefined && now < held.askedAtMs + renewalShare * (held.expiresAtMs - held.askedAtMs)) {
        return Promise.resolve(held.basic);
      }
      asking = renew().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    invalidate() {
      if (held !== undefined && clock.now() - held.askedAtMs > refusalPauseMs) held = undefined;
    },
  };
}
