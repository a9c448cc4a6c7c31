import type { APIGatewayProxyEvent } from 'aws-lambda';
import { agentRoutes } from '../../../functions/agent-routes.ts';
import { operatorRoutes } from '../../../functions/operator-routes.ts';
import { type Route, routes } from '../../../functions/routes.ts';

const table = new Map<string, Route>(
  [...routes, ...agentRoutes, ...operatorRoutes].map((route) => [toKey(route.method, route.path), route]),
);

/** The row of the request's route. @throws Error where there is none */
export function getRoute({
  httpMethod,
  resource,
}: Pick<APIGatewayProxyEvent, 'httpMethod' | 'resource'>): Route {
  const route = table.get(toKey(httpMethod, resource));
  if (route === undefined) throw new Error(`no file of routes has a row for ${httpMethod} ${resource}`);
  return route;
}

function toKey(method: string, path: string): string {
  return `${method} ${path}`;
}
