import * as z from 'zod';
import { projectClusterSchema } from './answers/projects.ts';
import type { ApiRoutes } from './api-route.ts';
import { pathParameter } from './parameters.ts';

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
    summary: 'What runs in the clusters of a project of Front50',
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
