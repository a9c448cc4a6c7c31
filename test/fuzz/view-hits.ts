import { routes } from '../../functions/routes.ts';
import { application, type Hit, type Hits, kept, type Playground } from './playground.ts';

/** Reads of the cache, and of what there is nothing behind: one request for each of these routes, and variants where that says more. */
export function createViewHits({ account, namespace }: Playground, others: Hits): Hits {
  const serverGroup = `${kept.cluster}-v000`;
  const values: { readonly [name: string]: string } = {
    account,
    application,
    cloudProvider: 'kubernetes',
    cluster: kept.cluster,
    id: `${kept.pod}-v000`,
    name: serverGroup,
    project: 'none',
    region: namespace,
    scope: namespace,
    serverGroup,
    summaryType: 'images',
    target: 'current_asg_dynamic',
    type: 'kubernetes',
  };
  const isOpen = (route: string, path: string): boolean =>
    route.startsWith('GET ') && path.includes('{') && !Object.hasOwn(others, route);
  const hits = routes
    .map(({ method, path }) => ({ route: `${method} ${path}`, path }))
    .filter(({ route, path }) => isOpen(route, path))
    .map(({ route, path }): [string, Hit[]] => [route, [{ path: pick(values, path) }]]);
  const own: Hits = Object.fromEntries(hits);
  const groups = 'GET /applications/{application}/serverGroups';
  const balancer = 'GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}';
  const securityGroup = 'GET /securityGroups/{account}/{cloudProvider}/{region}/{name}';
  const place = { cloudProvider: 'kubernetes', account, region: namespace };
  const path = { application };
  return {
    ...own,
    [groups]: [
      { path },
      { path, query: { expand: 'true' } },
      { path, query: { clusters: `${account}:${kept.cluster}` } },
      { path, query: { clusters: '' }, header: { 'Cache-Control': 'max-age=5' } },
    ],
    [balancer]: [
      { path: { ...place, name: 'service frontend' } },
      { path: { ...place, cloudProvider: 'nobody', name: 'service frontend' } },
    ],
    [securityGroup]: [{ path: { ...place, name: kept.networkPolicy } }],
  };
}

function pick(values: { readonly [name: string]: string }, path: string): { [name: string]: string } {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(
    names.map((name) => {
      const value = values[name];
      if (value === undefined) throw new Error(`${path}: nothing is known to put in the place of ${name}`);
      return [name, value];
    }),
  );
}
