import type { ApiTable } from '#contract/api-table.ts';
import { type Route, routes } from '#functions/routes.ts';
import { table as rights } from '#test/acceptance/access/expectations.ts';
import { createRouteCalls, toTarget } from '#test/acceptance/contract/route-calls.ts';
import { createHits, unaimedRoutes } from '#test/fuzz/fuzz-hits.ts';
import type { Rule } from './additions.ts';

/** A route, and what is said of it in data. What stands in texts is looked for there. */
export interface RouteItem {
  /** `GET /task/{id}`. */
  readonly route: string;
  readonly path: string;
  /** Its function's module below `functions/`, without extension. */
  readonly module: string;
  readonly isDescribed: boolean;
  readonly isCalled: boolean;
  /** Whether it has its row in the table of rights. */
  readonly isJudged: boolean;
  /** Whether a request of the fuzzer hits something, or need not aim. */
  readonly isHit: boolean;
}

/** Every route of `functions/routes.ts`. */
export function listRoutes({ routes: described }: Pick<ApiTable, 'routes'>): RouteItem[] {
  const playground = { account: 'one', otherAccounts: ['two'], namespace: 'here', taskIds: ['1', '2'] };
  const hits = createHits(playground);
  return routes.map((row) => {
    const route = `${row.method} ${row.path}`;
    const canMiss = row.path.includes('{') || described[route]?.request !== undefined;
    return {
      ...{ route, path: row.path, module: row.module },
      isDescribed: Object.hasOwn(described, route),
      isCalled: isCalled(row),
      isJudged: Object.hasOwn(rights, route),
      isHit: !canMiss || Object.hasOwn(hits, route) || unaimedRoutes.includes(route),
    };
  });
}

/** Whether the acceptance suite knows a call of a route, with a value for each variable of its path. */
function isCalled(row: Route): boolean {
  const world = { namespace: 'here', taskId: '1' };
  const call = createRouteCalls(world)[`${row.method} ${row.path}`];
  if (call === undefined || (call.shows === '' && !call.isEmpty)) return false;
  try {
    return toTarget(row, call, world).startsWith('/');
  } catch {
    return false;
  }
}

/** A route that has its row alone. */
export const newRoute: RouteItem = {
  ...{ route: 'GET /quotas/{account}', path: '/quotas/{account}', module: 'api/quotas/list-quotas' },
  ...{ isDescribed: false, isCalled: false, isJudged: false, isHit: false },
};

/** What a route must have. */
export const routeRules: readonly Rule<RouteItem>[] = [
  {
    isKept: ({ module, route }, texts) => namesRoute(texts.read(`functions/${module}.ts`), route),
    tell: ({ module, route }) => [
      `functions/${module}.ts does not say that it answers ${route}`,
      'write the function, with the route in its docstring',
    ],
  },
  {
    isKept: ({ isDescribed }) => isDescribed,
    tell: ({ route }) => [
      `shared/contract/ does not describe ${route}`,
      "add it to the file of its tag there, its answer's schema to shared/contract/answers/",
    ],
  },
  {
    isKept: ({ path }, texts) => texts.read('docs/openapi.json').includes(`"${path}": {`),
    tell: ({ route }) => [`docs/openapi.json does not have ${route}`, 'run npm run openapi'],
  },
  {
    isKept: ({ route }, texts) =>
      texts.read('docs/contract.md').includes(`| ${route.replace(' ', ' | `')}\` |`),
    tell: ({ route }) => [
      `docs/contract.md has no row of ${route}`,
      'run npx vitest run test/architecture/contract-page.test.ts --update',
    ],
  },
  {
    isKept: ({ route }, texts) => texts.read('docs/authorization.md').includes(`\`${route}\``),
    tell: ({ route }) => [
      `docs/authorization.md has no row of ${route}`,
      'run npx vitest run test/architecture/authorization-page.test.ts --update',
    ],
  },
  {
    isKept: ({ isJudged }) => isJudged,
    tell: ({ route }) => [
      `no test of who may call ${route}`,
      'add its row to test/acceptance/access/expectations.ts',
    ],
  },
  {
    isKept: ({ isCalled: isKnown }) => isKnown,
    tell: ({ route }) => [
      `no acceptance test calls ${route}`,
      'say in test/acceptance/contract/route-calls.ts how it is called, what stands for its variables, and what the answer shows',
    ],
  },
  {
    isKept: ({ isHit }) => isHit,
    tell: ({ route }) => [
      `no request of the fuzzer hits ${route}`,
      'add one in test/fuzz/fuzz-hits.ts, or what stands for its variables in test/fuzz/view-hits.ts',
    ],
  },
];

/** Whether a function's docstring names a route, and not one whose path merely begins so. */
function namesRoute(text: string, route: string): boolean {
  const [, ...rests] = text.replaceAll(/\s*\n \*\s*/g, ' ').split(route);
  return rests.some((rest) => !/^[/{\w]/.test(rest));
}
