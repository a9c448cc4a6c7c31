import type { JsonObject } from '#core/json.ts';
import { getSetting } from './spring-config.ts';

/** Where the settings say that each request is logged whole: `verbose`. */
export const requestLogPath = 'busdriver.log.requests';

/** Where the settings say that deployed functions obey that, too: true. */
export const deployedRequestLogPath = 'busdriver.log.allowVerboseDeployed';

/** For so long after its start a deployed process logs requests, milliseconds: what was switched on is forgotten easily. */
export const deployedRequestLogMs = 3_600_000;

/** The process that would log. */
export interface LoggingProcess {
  readonly config: { readonly placement: 'local' | 'deployed' };
  /** Since its start, milliseconds. */
  readonly ageMs: number;
}

/** Whether a process logs requests with their headers and bodies. What the settings say otherwise than above is no. */
export function areRequestsLogged(settings: JsonObject, { config, ageMs }: LoggingProcess): boolean {
  const says = (path: string, word: string): boolean =>
    String(getSetting(settings, path) ?? '').toLowerCase() === word;
  if (!says(requestLogPath, 'verbose')) return false;
  return (
    config.placement === 'local' || (ageMs < deployedRequestLogMs && says(deployedRequestLogPath, 'true'))
  );
}
