import { EngineAccess } from '../../../infra/local/engine-access.ts';
import { localRegion } from '../../../infra/local/local-aws.ts';
import type { Logger } from '../../../shared/core/logger.ts';

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Options of a client of engines with `openTestAccess`, and of emulators that check no signature, beside its endpoint. */
export const localClientOptions = {
  region: localRegion,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;

/** The access of engines that a test starts by itself: clients sign with `localClientOptions`. */
export function openTestAccess(log: Logger = silent): EngineAccess {
  return new EngineAccess({ log, credentials: localClientOptions.credentials });
}
