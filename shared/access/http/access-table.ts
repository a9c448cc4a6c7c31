import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Route, routes } from '#functions/routes.ts';
import { upstreamRoutes } from '#functions/upstream-routes.ts';

/** The members of an event that name its route. */
export type RouteEvent = Pick<APIGatewayProxyEvent, 'httpMethod' | 'resource'>;

/** Finds the row of a request's route. Throws an Error where there is none. */
export type RouteFinder = (event: RouteEvent) => Route;

const table = new Map(toEntries([...routes, ...upstreamRoutes]));

/** The row of a request of Spinnaker's API. @throws Error where there is none */
export function getRoute(event: RouteEvent): Route {
  return findRow(table, event);
}

/** Rows by method and path, for a map of them: a function holds only those of its own table. */
export function toEntries(rows: readonly Route[]): readonly (readonly [string, Route])[] {
  return rows.map((route) => [`${route.method} ${route.path}`, route]);
}

/** The row of a request's route in a table. @throws Error where there is none */
export function findRow(rows: ReadonlyMap<string, Route>, { httpMethod, resource }: RouteEvent): Route {
  const route = rows.get(`${httpMethod} ${resource}`);
  if (route === undefined) throw new Error(`no file of routes has a row for ${httpMethod} ${resource}`);
  return route;
}
