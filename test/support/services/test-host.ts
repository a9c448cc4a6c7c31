import { createHostServices, type HostOptions } from '#platform/services/host-services.ts';
import { createTestClock, testRandomness } from '../run/test-clock.ts';

/** What a deployed process offers to plug-ins, with no variables that name endpoints; it shares nothing with others. */
export function createTestHost(options: Partial<HostOptions> = {}) {
  const own = { clock: createTestClock(), randomness: testRandomness, environment: {} };
  return createHostServices({ ...own, placement: 'deployed', ...options });
}
