import type * as z from 'zod';
import { adminRoutes } from './admin.ts';
import { errorSchema } from './answers/errors.ts';
import type { ApiRoutes, DescribedOperation } from './api-route.ts';
import { applicationRoutes, applicationSchemas } from './applications.ts';
import { artifactRoutes, artifactSchemas } from './artifacts.ts';
import { cacheRoutes, cacheSchemas } from './cache.ts';
import { clusterRoutes, clusterSchemas } from './clusters.ts';
import { credentialsRoutes, credentialsSchemas } from './credentials.ts';
import { featureRoutes } from './features.ts';
import { imageRoutes, imageSchemas } from './images.ts';
import { instanceRoutes, instanceSchemas } from './instances.ts';
import { inventoryApiRoutes } from './inventories.ts';
import { jobRoutes, jobSchemas } from './jobs.ts';
import { loadBalancerRoutes, loadBalancerSchemas } from './load-balancers.ts';
import { manifestRoutes, manifestSchemas } from './manifests.ts';
import { createOperationRoutes } from './operations.ts';
import { projectRoutes, projectSchemas } from './projects.ts';
import { providerRoutes, providerSchemas } from './providers.ts';
import { searchRoutes, searchSchemas } from './search.ts';
import { securityGroupRoutes, securityGroupSchemas } from './security-groups.ts';
import { serverGroupRoutes, serverGroupSchemas } from './server-groups.ts';
import { taskRoutes, taskSchemas } from './tasks.ts';

/** Everything the document tells. */
export interface ApiTable {
  readonly routes: ApiRoutes;
  /** Schemas that have a name of their own, of requests and of answers: no name occurs in both. */
  readonly requestSchemas: { readonly [name: string]: z.ZodType };
  readonly answerSchemas: { readonly [name: string]: z.ZodType };
  /** Groups of routes, in order. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

const tags = [
  { name: 'operations', description: 'Changes, which become tasks.' },
  { name: 'tasks', description: 'What became of a change.' },
  { name: 'manifests', description: 'Live objects of clusters.' },
  { name: 'jobs', description: 'Live Jobs, and what pods write.' },
  { name: 'applications', description: 'What runs where, out of the cache.' },
  { name: 'clusters', description: 'The versions of what an application runs, out of the cache.' },
  { name: 'server groups', description: 'ReplicaSets and the like with their pods, out of the cache.' },
  { name: 'credentials', description: 'Accounts.' },
  { name: 'artifacts', description: 'Artifacts and their accounts.' },
  { name: 'features', description: 'What there is.' },
  { name: 'load balancers', description: 'Services and ingresses, out of the cache.' },
  { name: 'security groups', description: 'Network policies, out of the cache.' },
  { name: 'images', description: 'Tags of Docker registries, images and charts, out of the cache.' },
  { name: 'instances', description: 'Pods, out of the cache.' },
  { name: 'search', description: 'Everything by its name.' },
  { name: 'cache', description: 'What its agents do; forced refreshes, for older Orcas.' },
  { name: 'admin', description: 'Administration.' },
  {
    name: 'inventories',
    description: 'What platforms have besides, for Deck: empty where no provider lists it.',
  },
];

/** The API. @param operations those of all providers, whose descriptions are shown. */
export function createApiTable(operations: readonly DescribedOperation[]): ApiTable {
  const { routes, schemas } = createOperationRoutes(operations);
  return {
    tags,
    routes: {
      ...routes,
      ...taskRoutes,
      ...manifestRoutes,
      ...jobRoutes,
      ...applicationRoutes,
      ...clusterRoutes,
      ...serverGroupRoutes,
      ...credentialsRoutes,
      ...providerRoutes,
      ...artifactRoutes,
      ...featureRoutes,
      ...cacheRoutes,
      ...loadBalancerRoutes,
      ...securityGroupRoutes,
      ...imageRoutes,
      ...instanceRoutes,
      ...searchRoutes,
      ...projectRoutes,
      ...inventoryApiRoutes,
      ...adminRoutes,
    },
    requestSchemas: schemas,
    answerSchemas: {
      ...taskSchemas,
      ...manifestSchemas,
      ...jobSchemas,
      ...applicationSchemas,
      ...clusterSchemas,
      ...serverGroupSchemas,
      ...credentialsSchemas,
      ...providerSchemas,
      ...artifactSchemas,
      ...cacheSchemas,
      ...loadBalancerSchemas,
      ...securityGroupSchemas,
      ...imageSchemas,
      ...instanceSchemas,
      ...searchSchemas,
      ...projectSchemas,
      Error: errorSchema,
    },
  };
}
