import type { Route } from './route.ts';

/** API Gateway's path of whatever no other row has. */
export const unknownPath = '/{proxy+}';

/** Rows for what no other row has, where a Clouddriver is configured behind this one; without it these paths are 404. */
export const upstreamRoutes: readonly Route[] = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map(
  (method) => ({
    method,
    path: unknownPath,
    module: 'api/upstream/forward-unknown-path',
    reaches: 'internet',
    timeoutSeconds: 20,
    access: 'identified',
    uses: ['readAccountFacts', 'publishEvents'],
  }),
);
