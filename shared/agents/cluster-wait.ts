import type { JsonObject } from '#core/json.ts';
import { intField, parseWith, withDefault } from '#settings/coerce.ts';
import { getSetting } from '#settings/spring-config.ts';

/** Path of the setting that says for how many seconds operations wait for a cluster that cannot be reached. */
export const clusterWaitPath = 'busdriver.operations.clusterWaitSeconds';

/** Seconds for which operations wait for a cluster that cannot be reached, unless the settings say otherwise. */
export const clusterWaitSecondsDefault = 300;

/** The most that they may say: an hour, after which Orca gives a task up. */
export const clusterWaitSecondsMax = 3_600;

/**
 * Milliseconds after its acceptance until which a task waits for a cluster that cannot be reached; 0 when it is to fail at once.
 *
 * @throws InvalidInputError for a number of seconds of no use
 */
export function parseClusterWaitMs(settings: JsonObject): number {
  const field = withDefault(intField({ min: 0, max: clusterWaitSecondsMax }), clusterWaitSecondsDefault);
  return parseWith(field, getSetting(settings, clusterWaitPath), clusterWaitPath) * 1_000;
}
