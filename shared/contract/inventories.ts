import * as z from 'zod';
import { inventoryRoutes, mapRoute } from '#views/inventories.ts';
import type { ApiAnswer, ApiParameter, ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, cloudProviderParameter, clusterParameter, pathParameter } from './parameters.ts';
import { applicationParameter, regionParameter } from './resources.ts';

const list: ApiAnswer = {
  description: 'What providers list, each in its own form. Empty where none has any.',
  schema: z.array(z.unknown()),
  examples: { none: { summary: 'None', value: [] } },
};

const map: ApiAnswer = {
  description: 'The same by provider.',
  schema: z.record(z.string(), z.array(z.unknown())),
  examples: { none: { summary: 'None', value: {} } },
};

const parameters = [
  accountParameter,
  applicationParameter,
  cloudProviderParameter,
  regionParameter,
  pathParameter('type', { description: 'Provider of the accounts.', example: 'kubernetes' }),
  clusterParameter,
  pathParameter('name', { description: 'Name of the report.', example: 'v3' }),
  pathParameter('serverGroup', { description: 'Name of the server group.', example: 'frontend-v003' }),
];

/** Routes of inventories. */
export const inventoryApiRoutes: ApiRoutes = Object.fromEntries(
  Object.entries(inventoryRoutes).map(([path, [, operationId, what]]): [string, ApiRoute] => [
    `GET ${path}`,
    {
      operationId,
      tag: 'inventories',
      isCached: true,
      summary: `${what.charAt(0).toUpperCase()}${what.slice(1)}`,
      parameters: findParameters(path),
      answer: path === mapRoute ? map : list,
    },
  ]),
);

/** Those of a path, in its order. */
function findParameters(path: string): readonly ApiParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.flatMap((name) => parameters.filter((parameter) => parameter.name === name));
}
