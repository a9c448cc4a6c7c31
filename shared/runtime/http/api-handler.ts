import { admit } from './access-gate.ts';
import {
  type ApiFunction,
  type ApiLogic,
  type Gate,
  type LoggingContext,
  makeApiFunction,
} from './api-function.ts';

export { type ApiFunction, type ApiRequest, type ApiResponse, ok, okText } from './api-function.ts';

/** Asks what rows ask. What writes records down is loaded with the first: most requests leave none. */
const gate: Gate = {
  admit,
  async record(records) {
    if (records.length === 0) return;
    const { openAudit } = await import('./audit.ts');
    await Promise.all(records.map((each) => openAudit().record(each)));
  },
};

/**
 * Makes a Lambda function of a route's logic. Who calls is let in by what the route's row in `functions/routes.ts` asks.
 *
 * @param open gives the function's context; called with each request, so it should remember what it made.
 */
export function apiHandler<C extends LoggingContext>(
  open: ApiLogic<C>['open'],
  run: ApiLogic<C>['run'],
): ApiFunction {
  return makeApiFunction({ open, run }, gate);
}
