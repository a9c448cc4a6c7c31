import { routes } from '#functions/routes.ts';
import { application, type Hit, type Hits, kept, type Playground } from './playground.ts';

/**
 * Reads of the cache, and of what there is nothing behind: one request for each of these routes, and variants where that says more. A
 * route with a variable of which nothing is known gets none.
 */
export function createViewHits({ account, namespace }: Playground, others: Hits): Hits {
  const serverGroup = `${kept.cluster}-v000`;
  const values: { readonly [name: string]: string } = {
    account,
    application,
    cloudProvider: 'kubernetes',
    cluster: kept.cluster,
    hash: '867867a8e7e9da56bc108b97c03bf3b532f86e9cfdf3196de277a2d77d188195',
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
    .flatMap(({ route, path }): [string, Hit[]][] => {
      const picked = pick(values, path);
      return picked === undefined ? [] : [[route, [{ path: picked }]]];
    });
  const own: Hits = Object.fromEntries(hits);
  const groups = 'GET /applications/{application}/serverGroups';
  const balancer = 'GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}';
  const securityGroup = 'GET /securityGroups/{account}/{cloudProvider}/{region}/{name}';
  const charts = 'GET /{cloudProvider}/charts/find';
  const images = 'GET /{cloudProvider}/images/find';
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
    'GET /serverGroups': [{ query: { applications: application } }],
    [balancer]: [
      { path: { ...place, name: 'service frontend' } },
      { path: { ...place, cloudProvider: 'nobody', name: 'service frontend' } },
    ],
    [charts]: [
      { path: { cloudProvider: 'dockerRegistry' } },
      { path: { cloudProvider: 'titus' }, query: { q: 'shop', count: '3', includeDetails: 'true' } },
    ],
    [images]: [
      { path: { cloudProvider: 'dockerRegistry' } },
      { path: { cloudProvider: 'titus' }, query: { q: 'cart', count: '3', includeDetails: 'true' } },
    ],
    [securityGroup]: [{ path: { ...place, name: kept.networkPolicy } }],
  };
}

/** What stands in the place of each variable of a path; undefined where one of them is not known. */
function pick(
  values: { readonly [name: string]: string },
  path: string,
): { readonly [name: string]: string } | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (!names.every((name) => Object.hasOwn(values, name))) return undefined;
  return Object.fromEntries(names.map((name) => [name, values[name] ?? '']));
}
