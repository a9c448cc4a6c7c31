import * as z from 'zod';
import type { ApiRoutes } from './api-route.ts';
import { flagParameter } from './parameters.ts';

const applicationSchema = z
  .strictObject({
    name: z.string().min(1),
    attributes: z.strictObject({ name: z.string().min(1) }),
    clusterNames: z
      .record(z.string(), z.array(z.string()))
      .describe('Full names of its clusters (`deployment web`) by account.'),
  })
  .describe('An application that some account runs.');

/** Named schemas of the application routes. */
export const applicationSchemas = { Application: applicationSchema };

/** Routes of applications. */
export const applicationRoutes: ApiRoutes = {
  'GET /applications': {
    operationId: 'listApplications',
    tag: 'applications',
    summary: 'The applications that the accounts run, sorted by name',
    description: 'Gate and Fiat poll it.',
    parameters: [
      flagParameter('expand', 'Changes nothing: the clusters are always there.', false),
      flagParameter('restricted', 'Changes nothing: without Fiat nothing is restricted.', false),
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
};
