import { within } from '#core/deadline.ts';
import type { Logger } from '#core/logger.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';

/** What closing connections may take when a process stops, in milliseconds. */
const closeTimeoutMs = 2_000;

/** Closes what functions opened. One that is over its time may be opening something, which must not hold up the end. Never rejects. */
export async function closeServices(services: Services, log: Logger): Promise<void> {
  const deadline = { ms: closeTimeoutMs, what: 'closing what functions opened' };
  try {
    await within(systemClock, deadline, () => services[Symbol.asyncDispose]());
  } catch (error) {
    log.warn('what functions opened could not be closed', { error });
  }
}
