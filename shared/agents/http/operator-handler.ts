import { findRow, toEntries } from '#access/http/access-table.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import {
  type ApiFunction,
  type ApiLogic,
  type LoggingServices,
  makeApiFunction,
} from '#http/api-function.ts';
import { gate } from '#http/api-handler.ts';

const table = new Map(toEntries(operatorRoutes));

/**
 * Makes a Lambda function of a route that operators of agents call. Callers are let in by what the route's row in
 * `functions/operator-routes.ts` asks.
 *
 * @param open opens what the function works with; called with each request, so it should share what it made.
 */
export function operatorHandler<C extends LoggingServices>(
  open: ApiLogic<C>['open'],
  run: ApiLogic<C>['run'],
): ApiFunction {
  return makeApiFunction({ open, run }, { ...gate, getRoute: (event) => findRow(table, event) });
}
