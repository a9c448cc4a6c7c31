import { noRights } from '#access/authorization.ts';
import { getRoute } from '#access/http/access-table.ts';
import { createAccess, nobody } from '#access/http/request-access.ts';
import { type ApiFunction, type ApiLogic, type LoggingServices, makeApiFunction } from './api-function.ts';
import type { Gate } from './gate.ts';

export type { ApiRequest } from './api-request.ts';
export { type ApiResponse, ok, okText } from './api-response.ts';

/** Admits every caller, but only where the row asks for nothing: any other row makes a function that answers nobody. */
const gate: Gate = {
  async admit(event) {
    const route = getRoute(event);
    if (route.access !== 'anonymous') throw new Error(`${route.module} is open, but its row asks for rights`);
    return createAccess({ route, identity: nobody, rules: {} }, { getRights: () => noRights });
  },
  async record() {},
};

/** Makes a Lambda function for routes that ask nothing of their callers: its bundle needs no accounts. */
export function openHandler<C extends LoggingServices>(
  open: ApiLogic<C>['open'],
  run: ApiLogic<C>['run'],
): ApiFunction {
  return makeApiFunction({ open, run }, gate);
}
