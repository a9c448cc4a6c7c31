import { createApiTable } from '#contract/api-table.ts';
import { type Route, routes } from '#functions/routes.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '#providers/kubernetes/v1/operations/index.ts';
import { table as rights } from '#test/acceptance/access/expectations.ts';
import { createRouteCalls, toTarget } from '#test/acceptance/contract/route-calls.ts';
import { createHits, unaimedRoutes } from '#test/fuzz/fuzz-hits.ts';
import { type Addition, addition, has, writeTables } from './additions.ts';
import { readText } from './source-files.ts';

const world = { namespace: 'here', taskId: '1' };
const calls = createRouteCalls(world);
const hits = createHits({ account: 'one', otherAccounts: ['two'], namespace: 'here', taskIds: ['1', '2'] });
const { routes: described } = createApiTable([...operationDefinitions, ...v1OperationDefinitions]);

/** Routes that the acceptance suite calls, that the fuzzer hits, and that are described. */
export const namedRoutes: readonly string[] = [calls, hits, described].flatMap(Object.keys);

/** The routes of `functions/routes.ts`. */
export const routeAddition: Addition = addition<Pick<Route, 'method' | 'path' | 'module'>>(
  'route',
  'a route',
  {
    items: routes,
    newcomer: { method: 'GET', path: '/quotas/{account}', module: 'api/quotas/list-quotas' },
    needs: ({ method, path, module }) => {
      const route = `${method} ${path}`;
      const file = `functions/${module}.ts`;
      const canMiss = path.includes('{') || described[route]?.request !== undefined;
      return [
        isNamed(readText(file), route) ||
          `${file} does not say that it answers ${route}: write the function, with the route in its docstring`,
        Object.hasOwn(described, route) ||
          `shared/contract/ does not describe ${route}: add it to the file of its tag there, its answer's schema to shared/contract/answers/`,
        has('docs/openapi.json', `"${path}": {`) ||
          `docs/openapi.json does not have ${route}: run npm run openapi`,
        has('docs/contract.md', `| ${method} | \`${path}\` |`) ||
          `docs/contract.md has no row of ${route}: ${writeTables}`,
        has('docs/authorization.md', `\`${route}\``) ||
          `docs/authorization.md has no row of ${route}: ${writeTables}`,
        Object.hasOwn(rights, route) ||
          `no test of who may call ${route}: add its row to test/fixtures/access.yaml`,
        isCalled(route) ||
          `no acceptance test calls ${route}: say in test/acceptance/contract/route-calls.ts how it is called, what its variables are, and what the answer shows`,
        !canMiss ||
          Object.hasOwn(hits, route) ||
          unaimedRoutes.includes(route) ||
          `no request of the fuzzer hits ${route}: add one in test/fuzz/fuzz-hits.ts, or what its variables are in test/fuzz/view-hits.ts`,
      ];
    },
  },
);

/** Whether the acceptance suite knows a call of a route, with a value for each variable of its path. */
function isCalled(route: string): boolean {
  const call = calls[route];
  const row = routes.find(({ method, path }) => `${method} ${path}` === route);
  if (row === undefined || call === undefined || (call.shows === '' && !call.isEmpty)) return false;
  try {
    return toTarget(row, call, world).startsWith('/');
  } catch {
    return false;
  }
}

/** Whether a function's docstring names a route, and not one whose path merely begins so. */
function isNamed(text: string, route: string): boolean {
  const [, ...rests] = text.replaceAll(/\s*\n \*\s*/g, ' ').split(route);
  return rests.some((rest) => !/^[/{\w]/.test(rest));
}
