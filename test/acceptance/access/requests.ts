import type { Route } from '#functions/routes.ts';

/** The restricted account that requests are about. */
export const gated = 'gated';

/** The application that it runs. */
export const application = 'matrix';

export interface RequestNames {
  readonly namespace: string;
  readonly taskId: string;
}

export interface RouteRequest {
  readonly route: string;
  readonly path: string;
  readonly method: Route['method'];
  readonly body?: string;
}

export function toRouteRequest({ method, path }: Route, names: RequestNames): RouteRequest {
  const route = `${method} ${path}`;
  const values = toValues(path, names);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? 'x'),
  );
  const suffix = route === 'POST /task/{id}' ? ':resume' : '';
  const query = queries[route] ?? '';
  const body = findBody(route, names);
  return { route, method, path: filled + suffix + query, ...(body !== undefined && { body }) };
}

function toValues(path: string, { namespace, taskId }: RequestNames): ReadonlyMap<string, string> {
  const isPolicy = path.startsWith('/securityGroups');
  const isService = path.includes('/loadBalancers/');
  const name = isPolicy ? 'networkPolicy matrix' : isService ? 'service matrix' : 'deployment matrix';
  return new Map([
    ['account', gated],
    ['application', application],
    ['cloudProvider', 'kubernetes'],
    ['cluster', 'deployment matrix'],
    ['criteria', 'newest'],
    ['fileName', 'web'],
    ['id', path.includes('/task/') ? taskId : path.includes('/jobs/') ? 'job none' : 'pod none'],
    ['location', namespace],
    ['name', path.includes('/cluster/{application}') ? 'deployment' : name],
    ['operation', 'deleteManifest'],
    ['pod', 'none'],
    ['project', 'matrix-project'],
    ['region', namespace],
    ['scope', namespace],
    ['summaryType', 'image'],
    ['target', 'current'],
  ]);
}

const queries: { readonly [route: string]: string } = {
  'GET /applications': '?restricted=false',
  'GET /search': '?q=matrix&type=serverGroupManagers&type=serverGroups',
  'GET /serverGroups': '?applications=matrix',
};

function findBody(route: string, { namespace }: RequestNames): string | undefined {
  const description = {
    account: gated,
    cloudProvider: 'kubernetes',
    manifestName: 'configMap none',
    location: namespace,
  };
  if (route.endsWith('/ops/{operation}')) return JSON.stringify(description);
  if (route.endsWith('/ops') || route.endsWith('/restart'))
    return JSON.stringify([{ deleteManifest: description }]);
  if (route.startsWith('PATCH')) return '{"retry": false}';
  if (route === 'PUT /artifacts/fetch') return '{"type": "http/file", "artifactAccount": "none"}';
  return route.startsWith('POST /cache') ? '{}' : undefined;
}
