import * as z from 'zod';
import type { ApiParameter } from './api-route.ts';

/** A part of the path. A name may hold spaces and colons (`deployment%20web`, `clusterRole%20system:x`). */
export function pathParameter(
  name: string,
  parameter: { readonly description: string; readonly example: string; readonly schema?: z.ZodType },
): ApiParameter {
  return { in: 'path', name, schema: z.string().min(1), ...parameter };
}

/** Spring's words for true and false in any case, and the empty text, which counts as absent. */
const flagPattern =
  /^([Tt][Rr][Uu][Ee]|[Oo][Nn]|[Yy][Ee][Ss]|1|[Ff][Aa][Ll][Ss][Ee]|[Oo][Ff][Ff]|[Nn][Oo]|0)?$/;

/** A query flag. */
export function flagParameter(name: string, description: string, example: boolean): ApiParameter {
  return {
    in: 'query',
    name,
    description: `${description} Besides \`true\` and \`false\`, Spring's other words are read: on, off, yes, no, 1, 0.`,
    schema: z.union([z.boolean(), z.string().regex(flagPattern)]),
    example,
  };
}

/** The account of a path. */
export const accountParameter = pathParameter('account', { description: 'Account.', example: 'prod' });

/** The provider of a path. */
export const cloudProviderParameter = pathParameter('cloudProvider', {
  description: 'Provider id; where operations are started, an alias of it such as `kubernetesV1`, too.',
  example: 'kubernetes',
});

/** The provider of a route that only Kubernetes has. */
export const kubernetesParameter = pathParameter('cloudProvider', {
  description: 'Provider id; only Kubernetes has the route.',
  schema: z.literal('kubernetes'),
  example: 'kubernetes',
});

/** The Spinnaker cluster of a path. */
export const clusterParameter = pathParameter('cluster', {
  description: "Spinnaker's cluster: `kind name` of what its members are versions of.",
  example: 'deployment frontend',
});

/** A query parameter that is any text. */
export function textParameter(
  name: string,
  parameter: { readonly description: string; readonly example: string },
): ApiParameter {
  return { in: 'query', name, schema: z.string(), ...parameter };
}

/** What a request of a cached route may demand. */
export const cacheControlParameter: ApiParameter = {
  in: 'header',
  name: 'Cache-Control',
  description: '`max-age=30`: what is older than 30 seconds is to be refreshed first.',
  schema: z.string(),
  example: 'max-age=30',
};

/** What a request of a route whose answers have an `ETag` may say. */
export const ifNoneMatchParameter: ApiParameter = {
  in: 'header',
  name: 'If-None-Match',
  description:
    '`ETag` of an answer that the caller has: one that is still the same is answered 304, without a body.',
  schema: z.string(),
  example: 'W/"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"',
};
