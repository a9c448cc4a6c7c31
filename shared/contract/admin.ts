import * as z from 'zod';
import type { ApiRoutes } from './api-route.ts';
import { pathParameter } from './parameters.ts';

/** Routes of the administration. */
export const adminRoutes: ApiRoutes = {
  'PUT /admin/db/truncate/{namespace}': {
    operationId: 'truncateNamespace',
    tag: 'admin',
    summary: 'Answers `{}`, and does nothing',
    description: "Orca's interlink asks Clouddriver to empty a database. There is none here.",
    parameters: [
      pathParameter('namespace', { description: 'Any text.', example: 'com.netflix.spinnaker.clouddriver' }),
    ],
    answer: {
      description: 'Always the same.',
      schema: z.strictObject({}),
      examples: { done: { summary: 'Nothing was done', value: {} } },
    },
  },
};
