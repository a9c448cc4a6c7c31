import { mapRoute } from '#views/inventories.ts';
import type { MergeName } from './merges.ts';

/**
 * What decides whether a request goes upstream. `owner`: whose account or, without one, whose provider it names; what names neither is
 * ours. `artifact`: whose account of artifacts. `operations`: whose accounts the operations of its body name. `task`: whether the task is
 * ours. `always`: nothing, since this release has none of it. `merge`: like `owner`, but what names neither is asked on both sides.
 */
export type UpstreamRule =
  | { readonly by: 'owner' | 'artifact' | 'operations' | 'task' | 'always' }
  | { readonly by: 'merge'; readonly merge: MergeName };

const byArtifact: UpstreamRule = { by: 'artifact' };
const byOperations: UpstreamRule = { by: 'operations' };
const byTask: UpstreamRule = { by: 'task' };

/** Routes whose path does not say what decides, or says too little. */
const rules: ReadonlyMap<string, UpstreamRule> = new Map([
  ['GET /artifacts/account/{account}/names', byArtifact],
  ['GET /artifacts/account/{account}/versions', byArtifact],
  ['PUT /artifacts/fetch', byArtifact],
  ['POST /ops', byOperations],
  ['POST /ops/{operation}', byOperations],
  ['POST /{cloudProvider}/ops', byOperations],
  ['POST /{cloudProvider}/ops/{operation}', byOperations],
  ['GET /task/{id}', byTask],
  ['POST /task/{id}', byTask],
  ['DELETE /task/{id}', byTask],
  ['GET /{cloudProvider}/task/{id}/owner', byTask],
  ['POST /{cloudProvider}/task/{id}/restart', byTask],
  ['PATCH /{cloudProvider}/task/{id}', byTask],
  ...toMerges('list', [
    '/applications/{application}/loadBalancers',
    '/applications/{application}/rawResources',
    '/applications/{application}/serverGroupManagers',
    '/applications/{application}/serverGroups',
    '/cache/{cloudProvider}/{type}',
    '/serverGroups',
    '/task',
    '/{cloudProvider}/charts/find',
    '/{cloudProvider}/images/find',
    '/{cloudProvider}/loadBalancers',
  ]),
  ...toMerges('accountMap', ['/applications/{application}/clusters', '/securityGroups']),
  ...toMerges('accounts', ['/credentials']),
  ...toMerges('agents', ['/cache/introspection']),
  ...toMerges('named', ['/features/stages']),
  ...toMerges('artifactAccounts', ['/artifacts/credentials']),
  ...toMerges('application', ['/applications/{application}']),
  ...toMerges('applications', ['/applications']),
  ...toMerges('projectClusters', ['/projects/{project}/clusters']),
  ...toMerges('search', ['/search']),
]);

/** Routes that stay here, whatever they name, and why; besides those of managers, since accounts are managed where they are kept. */
export const ownRoutes: ReadonlyMap<string, string> = new Map([
  ['GET /', 'a page about this program'],
  ['GET /health', 'the health of this program; it shows whether the upstream answers'],
  ['GET /installedPlugins', 'plug-ins of this program'],
  ['GET /status', 'the state of this program'],
  ['GET /tasks', 'only this program lists tasks that have ended'],
  ['GET /v3/api-docs', 'the API of this program'],
  ['PUT /admin/db/truncate/{namespace}', 'nobody should empty a database through another program'],
  ['GET /artifacts/content-address/{application}/{hash}', 'the artifact store of this program'],
  ['GET /credentials/{account}/health', 'only this program has it'],
  ['POST /credentials/{account}/compare', 'only this program compares its cache'],
]);

/** A route, as far as its rule depends on it. */
export interface RuledRoute {
  readonly method: string;
  /** Its template: `/task/{id}`. */
  readonly path: string;
  /** Its function's module below `functions/`. */
  readonly module: string;
  readonly access: string | { readonly manager?: true };
}

/** The function of inventories, of which each side may have some. */
const inventoryModule = 'api/inventories/list-inventory';

/** What decides for a route; undefined for one that stays here, and for one of which nothing is said. */
export function findUpstreamRule(route: RuledRoute): UpstreamRule | undefined {
  const { method, path, module } = route;
  if (isOwnRoute(route)) return undefined;
  const rule = rules.get(`${method} ${path}`);
  if (rule !== undefined) return rule;
  if (path.includes('{account}') || path.includes('{cloudProvider}')) return { by: 'owner' };
  if (module === inventoryModule) return { by: 'merge', merge: path === mapRoute ? 'accountMap' : 'list' };
  return module.startsWith('api/upstream/') ? { by: 'always' } : undefined;
}

/** Whether a route stays here. */
export function isOwnRoute({ method, path, access }: Omit<RuledRoute, 'module'>): boolean {
  return ownRoutes.has(`${method} ${path}`) || (typeof access === 'object' && access.manager === true);
}

function toMerges(merge: MergeName, paths: readonly string[]): readonly [string, UpstreamRule][] {
  return paths.map((path) => [`GET ${path}`, { by: 'merge', merge }]);
}
