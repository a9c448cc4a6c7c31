import * as z from 'zod';
import { resultSetSchema } from './answers/search.ts';
import type { ApiParameter, ApiRoutes } from './api-route.ts';
import { textParameter } from './parameters.ts';

/** Named schemas of the search. */
export const searchSchemas = { SearchResultSet: resultSetSchema };

function numberParameter(name: string, description: string): ApiParameter {
  return { in: 'query', name, description, schema: z.int().min(1).max(999_999_999), example: 1 };
}

/** The route of the search. */
export const searchRoutes: ApiRoutes = {
  'GET /search': {
    operationId: 'search',
    tag: 'search',
    isCached: true,
    summary: 'What has the text `q` in its name',
    description:
      'An object is found by its kind, account, namespace, name, application or cluster; applications and projects are those of ' +
      'Front50, too. Every other parameter is a filter: of finds that have a member of its name only those with its value stay.',
    parameters: [
      textParameter('q', {
        description: 'The text, in any case. Default: everything is found.',
        example: 'front',
      }),
      textParameter('type', {
        description:
          "What to look for: Spinnaker's classes (`serverGroups`), kinds (`replicaSet`), `applications`, `clusters` and " +
          '`projects`, with commas between them or repeated. Required; empty it is everything, and others find nothing.',
        example: 'serverGroups,applications',
      }),
      textParameter('platform', {
        description: 'Only what this provider has.',
        example: 'kubernetes',
      }),
      numberParameter('pageSize', 'Finds on a page. Default: 10000.'),
      numberParameter('page', 'Which page. Default: 1, the first.'),
    ],
    answer: {
      description: 'Always one result set.',
      schema: z.array(resultSetSchema).length(1),
      examples: {
        serverGroup: {
          summary: 'A server group',
          value: [
            {
              totalMatches: 1,
              pageNumber: 1,
              pageSize: 100,
              platform: 'kubernetes',
              query: 'front',
              results: [
                {
                  provider: 'kubernetes',
                  group: 'replicaSet',
                  type: 'serverGroups',
                  kubernetesKind: 'replicaSet',
                  account: 'prod',
                  namespace: 'web',
                  region: 'web',
                  name: 'replicaSet frontend-v003',
                  application: 'shop',
                  cluster: 'replicaSet frontend',
                  serverGroup: 'replicaSet frontend-v003',
                },
              ],
            },
          ],
        },
        none: {
          summary: 'Nothing',
          value: [
            { totalMatches: 0, pageNumber: 1, pageSize: 100, platform: 'aws', query: 'nothing', results: [] },
          ],
        },
      },
    },
  },
};
