import * as z from 'zod';
import { applicationPageSchema, applicationSchema } from './answers/applications.ts';
import { type ApiRoutes, groupRoutes } from './api-route.ts';
import { flagParameter } from './parameters.ts';
import { applicationParameter } from './resources.ts';

/** Named schemas of the application routes. */
export const applicationSchemas = { Application: applicationSchema, ApplicationPage: applicationPageSchema };

/** Routes of applications. */
export const applicationRoutes: ApiRoutes = groupRoutes('applications', {
  'GET /applications': {
    operationId: 'listApplications',
    summary: 'The applications that the accounts run, with their clusters, sorted by name',
    description: 'Gate and Fiat poll it.',
    isCached: true,
    parameters: [
      flagParameter('expand', 'Changes nothing: the clusters are always there.', false),
      flagParameter(
        'restricted',
        '`false` names all applications and accounts, but no clusters of accounts that the caller may not read.',
        false,
      ),
    ],
    answer: {
      description: 'The applications.',
      schema: z.array(applicationSchema),
      examples: {
        one: {
          summary: 'An application with one cluster',
          value: [
            { name: 'shop', attributes: { name: 'shop' }, clusterNames: { prod: ['deployment frontend'] } },
          ],
        },
        none: { summary: 'No application', value: [] },
      },
    },
  },
  'GET /applications/{application}': {
    operationId: 'getApplication',
    summary: 'An application with its clusters',
    description: 'Its name counts as it is written: upper and lower case differ.',
    isCached: true,
    parameters: [applicationParameter],
    answer: {
      description: 'The application.',
      schema: applicationPageSchema,
      examples: {
        one: {
          summary: 'An application with one cluster',
          value: {
            name: 'shop',
            attributes: { name: 'shop', cloudProviders: 'kubernetes' },
            clusters: {
              prod: [
                { name: 'deployment frontend', provider: 'kubernetes', loadBalancers: [], serverGroups: [] },
              ],
            },
          },
        },
      },
    },
    errors: [404],
  },
});
