import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Route, routes } from '../../../functions/routes.ts';

/** Finds the row of a request's route. Throws an Error where there is none. */
export type RouteFinder = (event: Pick<APIGatewayProxyEvent, 'httpMethod' | 'resource'>) => Route;

/** What finds rows among these: a function holds those alone among which its own stand. */
export function createRouteFinder(rows: readonly Route[]): RouteFinder {
  const table = new Map(rows.map((route) => [`${route.method} ${route.path}`, route]));
  return ({ httpMethod, resource }) => {
    const route = table.get(`${httpMethod} ${resource}`);
    if (route === undefined) throw new Error(`no file of routes has a row for ${httpMethod} ${resource}`);
    return route;
  };
}

/** Finds the row of a request of Spinnaker's API. */
export const getRoute: RouteFinder = createRouteFinder(routes);
