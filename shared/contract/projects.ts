import * as z from 'zod';
import type { ApiRoutes } from './api-route.ts';
import { pathParameter } from './parameters.ts';
import { wholeNumber } from './resources.ts';

const countsSchema = z
  .strictObject({
    total: wholeNumber,
    up: wholeNumber,
    down: wholeNumber,
    unknown: wholeNumber,
    outOfService: wholeNumber,
    starting: wholeNumber,
  })
  .describe('Pods by how they fare.');

const time = wholeNumber.describe('Epoch milliseconds.');

const applicationSchema = z.strictObject({
  application: z.string().min(1),
  lastPush: time,
  clusters: z.array(
    z.strictObject({
      region: z.string().describe('Namespace.'),
      lastPush: time,
      instanceCounts: countsSchema,
      builds: z.array(
        z.strictObject({
          buildNumber: z.literal('0').describe('Nothing is known of builds.'),
          deployed: time,
          images: z.array(z.string()),
        }),
      ),
    }),
  ),
});

const projectClusterSchema = z
  .strictObject({
    account: z.string().min(1),
    stack: z.string().optional(),
    detail: z.string().optional(),
    applications: z.array(applicationSchema),
    instanceCounts: countsSchema,
  })
  .describe('A cluster of a project, with what runs in it.');

/** Named schemas of the routes of projects. */
export const projectSchemas = { ProjectCluster: projectClusterSchema };

const counts = { total: 2, up: 2, down: 0, unknown: 0, outOfService: 0, starting: 0 };
const deployed = 1795242935000;
const region = {
  region: 'web',
  lastPush: deployed,
  instanceCounts: counts,
  builds: [{ buildNumber: '0', deployed, images: ['example.com/frontend:1.4'] }],
};

/** Routes of projects. */
export const projectRoutes: ApiRoutes = {
  'GET /projects/{project}/clusters': {
    operationId: 'listProjectClusters',
    tag: 'applications',
    isCached: true,
    summary: 'The clusters of a project, with what runs in them',
    description:
      'Projects are those of Front50. Where it does not answer, those that it answered before are used; for others the answer is 503.',
    parameters: [pathParameter('project', { description: 'Name or id of the project.', example: 'shop' })],
    answer: {
      description: 'The clusters.',
      schema: z.array(projectClusterSchema),
      examples: {
        one: {
          summary: 'One cluster',
          value: [
            {
              account: 'prod',
              stack: '*',
              detail: '*',
              applications: [{ application: 'shop', lastPush: deployed, clusters: [region] }],
              instanceCounts: counts,
            },
          ],
        },
      },
    },
    errors: [404],
  },
};
