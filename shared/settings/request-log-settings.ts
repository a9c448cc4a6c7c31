import type { JsonObject } from '#core/json.ts';
import { getSetting } from './spring-config.ts';

/** The setting that logs whole requests: `verbose`. */
export const requestLogPath = 'busdriver.log.requests';

/** The setting that makes deployed functions obey that, too: true. */
export const deployedRequestLogPath = 'busdriver.log.allowVerboseDeployed';

/** Milliseconds after its start for which a deployed process logs requests: people forget to switch it off. */
export const deployedRequestLogMs = 3_600_000;

/** The process in question. */
export interface LoggingProcess {
  readonly config: { readonly placement: 'local' | 'deployed' };
  /** Milliseconds since its start. */
  readonly ageMs: number;
}

/** Whether a process logs requests with their headers and bodies. Any other value of the settings means no. */
export function areRequestsLogged(settings: JsonObject, { config, ageMs }: LoggingProcess): boolean {
  const says = (path: string, word: string): boolean =>
    String(getSetting(settings, path) ?? '').toLowerCase() === word;
  if (!says(requestLogPath, 'verbose')) return false;
  return (
    config.placement === 'local' || (ageMs < deployedRequestLogMs && says(deployedRequestLogPath, 'true'))
  );
}
