import { admit } from '#access/http/access-gate.ts';
import { wallClock } from '#platform/services/system.ts';
import { areRequestsLogged } from '#settings/request-log-settings.ts';
import { type ApiFunction, type ApiLogic, type LoggingServices, makeApiFunction } from './api-function.ts';
import { forward } from './forward.ts';
import type { Gate } from './gate.ts';

export type { ApiFunction, ApiLogic, LoggingServices } from './api-function.ts';
export type { ApiRequest } from './api-request.ts';
export { type ApiResponse, ok, okText } from './api-response.ts';

/** Checks what rows ask. The code that writes records is loaded with the first one: most requests leave none. */
export const gate: Gate = {
  admit,
  forward,
  async record(records, all) {
    if (records.length === 0) return;
    const { openAudit } = await import('#access/http/audit.ts');
    await Promise.all(records.map((each) => openAudit(all).record(each)));
  },
  async logRequest(request, { settings, config, log }) {
    // By wall time: Lambda freezes processes between their invocations.
    const ageMs = wallClock.now() - performance.timeOrigin;
    if (!areRequestsLogged(settings, { config, ageMs })) return;
    // The front door of one machine already logs them.
    if (config.placement === 'local' && config.verboseRequests) return;
    const { logRequest } = await import('./request-log.ts');
    logRequest(request, log);
  },
};

/**
 * Makes a Lambda function from a route's logic. Callers are admitted by the route's row in `functions/routes.ts`.
 *
 * @param open opens what the function uses; called with each request, so it should share what it made.
 * @param toErrorForm the form of its errors. Default: Clouddriver's
 */
export function apiHandler<C extends LoggingServices>(
  open: ApiLogic<C>['open'],
  run: ApiLogic<C>['run'],
  toErrorForm?: ApiLogic<C>['toErrorForm'],
): ApiFunction {
  return makeApiFunction({ open, run, toErrorForm }, gate);
}
