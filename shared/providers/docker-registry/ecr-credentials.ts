import type { Clock } from '#core/clock.ts';
import type { BasicCredentials } from '#oci/credentials.ts';
import type { EcrToken } from './ecr-client.ts';

/** Share of a token's lifetime after which the next one is requested. */
const renewalShare = 0.8;

/** A refused token is still used again if it is no older than this, milliseconds. */
const refusalPauseMs = 10_000;

/** Time limit of a request for a token, milliseconds. */
const tokenTimeoutMs = 30_000;

interface EcrCredentialsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Asks ECR for a token. */
  ask(signal: AbortSignal): Promise<EcrToken>;
}

interface Held extends EcrToken {
  readonly askedAtMs: number;
}

/** The tokens of a registry of ECR: each is used for most of its 12 hours, and only one is requested at a time. */
export function createEcrCredentials({ clock, ask }: EcrCredentialsOptions): BasicCredentials {
  let held: Held | undefined;
  let asking: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    const askedAtMs = clock.now();
    try {
      held = { ...(await ask(AbortSignal.timeout(tokenTimeoutMs))), askedAtMs };
    } catch (error) {
      // The previous token is still valid for a fifth of its lifetime.
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
