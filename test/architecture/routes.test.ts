import { describe, expect, it } from 'vitest';
import { agentRoutes, connectionRows } from '#functions/agent-routes.ts';
import { authorizers } from '#functions/authorizers.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { queues } from '#functions/queues.ts';
import { type Route, routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { upstreamRoutes } from '#functions/upstream-routes.ts';
import { listFiles, readText } from './source-files.ts';

/** Functions of routes without `{account}` in their path whose answers name no account, or none that callers must not know of: why. */
const unfiltered: { readonly [module: string]: string } = {
  'api/admin/truncate-namespace': 'it answers nothing',
  'api/artifacts/fetch-artifact': 'the account of the body; it is one of artifacts',
  'api/artifacts/get-stored-artifact': 'of an application',
  'api/artifacts/list-artifact-credentials': 'accounts of artifacts, which have no permissions',
  'api/cache/list-pending-refreshes': 'there are none',
  'api/cache/refresh-cache': 'it answers nothing',
  'api/credentials/create-account': 'the account of the body',
  'api/credentials/list-credentials': 'Gate and Fiat poll all accounts for everybody',
  'api/credentials/save-account': 'the account of the body, which asks WRITE',
  'api/docs/get-api-docs': 'paths',
  'api/docs/get-start-page': 'links',
  'api/features/list-stages': 'operations',
  'api/health/get-health': 'a status',
  'api/plugins/list-installed-plugins': 'plugins',
  'api/providers/create-provider': 'the account of the body',
  'api/providers/save-provider': 'the account of the body, which asks WRITE',
  'api/tasks/redrive-tasks': 'numbers',
  'operators/activate-accounts': 'accounts of the body, each of which asks WRITE',
  'operators/create-dynamic-accounts': 'accounts of the body',
  'operators/delete-accounts': 'accounts of the body, each of which asks WRITE',
  'operators/get-clouddriver': 'addresses',
  'operators/get-pool-settings': 'it answers nothing',
  'operators/list-clouddrivers': 'addresses',
  'operators/migrate-accounts': 'accounts of the body, each of which asks WRITE',
  'operators/update-dynamic-account': 'the account of the body, which asks WRITE',
};

const everyRoute = [...routes, ...agentRoutes, ...operatorRoutes];
const rows = [...everyRoute, ...upstreamRoutes, ...connectionRows, ...schedules, ...authorizers].map(
  ({ module }) => module,
);
const ofQueues = queues.flatMap(({ module, deadLetterModule }) => [module, deadLetterModule]);
const modules = [...new Set([...rows, ...ofQueues])];

describe('the inventory', () => {
  it('has a file for every row, and a row for every file', () => {
    const files = listFiles('functions/').filter((path) => /\/.*\/.*\.ts$/.test(path));
    expect(files.sort()).toEqual(modules.map((module) => `functions/${module}.ts`).sort());
  });

  it('has a name of its own for every function: the last part of its module is what Lambda calls it', () => {
    expect(findDoubles(modules.map((module) => module.split('/').at(-1) ?? ''))).toEqual([]);
  });

  it('is named in the docstring of each route', () => {
    const unnamed = everyRoute.filter((route) => {
      const text = readText(`functions/${route.module}.ts`).replaceAll(/\s*\n \*\s*/g, ' ');
      return !text.includes(toName(route));
    });
    expect(unnamed.map(toName)).toEqual([]);
  });

  it('has no two rows for one route', () => {
    expect(findDoubles(everyRoute.map((route) => toName(route).replaceAll(/\{\w+\}/g, '{}')))).toEqual([]);
  });
});

describe('routes fit API Gateway', () => {
  it('have only whole-segment variables', () => {
    const paths = everyRoute.map(({ path }) => path).filter((path) => path !== '/');
    expect(paths.filter((path) => !/^(\/(\{[A-Za-z]+\}|[A-Za-z0-9._-]+))+$/.test(path))).toEqual([]);
  });

  it('give sibling variables one name', () => {
    const paths = everyRoute.flatMap(({ path }) =>
      [...path.matchAll(/\}/g)].map(({ index }) => path.slice(0, index)),
    );
    const families = Map.groupBy(new Set(paths), (path) => path.slice(0, path.lastIndexOf('{')));
    expect([...families.values()].filter(({ length }) => length > 1)).toEqual([]);
  });

  it('end below twenty seconds when they only read', () => {
    const slow = everyRoute.filter(({ method, timeoutSeconds }) => method === 'GET' && timeoutSeconds > 20);
    expect(slow).toEqual([]);
  });
});

describe('routes of agents and operators', () => {
  it.each([
    { page: 'docs/agent/README.md', rows: agentRoutes },
    { page: 'docs/agent-routes.md', rows: operatorRoutes },
  ])('are in $page, each in a row of its own', ({ page, rows }) => {
    const text = readText(page);
    const missing = rows.filter(({ method, path }) => !text.includes(`| ${method} \`${path}\` |`));
    expect(missing).toEqual([]);
  });

  it('are those of agents, and no others are', () => {
    const agents = agentRoutes.filter(({ api, path }) => api === 'agent' && path.startsWith('/agent/v1/'));
    expect(agents).toEqual(agentRoutes);
    expect(routes.filter(({ api, path }) => api === 'agent' || path.startsWith('/agent/'))).toEqual([]);
  });
});

describe('routes of operators', () => {
  it('let nobody in but who may manage accounts', () => {
    const open = operatorRoutes.filter(({ access }) => typeof access !== 'object' || access.manager !== true);
    expect(open).toEqual([]);
    expect(operatorRoutes.filter(({ api }) => api !== 'operator')).toEqual([]);
  });

  it('can ask Fiat, which may be anywhere, and publish who was refused', () => {
    const unable = operatorRoutes.filter(
      ({ reaches, uses = [] }) =>
        reaches === 'store' || !uses.includes('readAccountFacts') || !uses.includes('publishEvents'),
    );
    expect(unable).toEqual([]);
  });

  it('are recorded in the audit where they change something', () => {
    expect(operatorRoutes.filter(({ method, audit }) => method !== 'GET' && audit === undefined)).toEqual([]);
  });
});

describe('routes without {account} in their path', () => {
  const open = [...routes, ...operatorRoutes].filter(({ path }) => !path.includes('{account}'));

  it('say in their rows that what they name of accounts is filtered, unless they name none', () => {
    const silent = open.filter((row) => !isFiltered(row));
    expect(silent.filter(({ module }) => !Object.hasOwn(unfiltered, module)).map(toName)).toEqual([]);
    const needed = silent.map(({ module }) => module);
    expect(Object.keys(unfiltered).filter((module) => !needed.includes(module))).toEqual([]);
  });

  it('are answered by functions that ask for it', () => {
    const filtered = open.filter(
      ({ access }) => typeof access === 'object' && access.filter?.includes('accounts'),
    );
    expect(filtered.length).toBeGreaterThan(20);
    expect(filtered.map(({ module }) => module).filter((module) => !asksForFilter(module))).toEqual([]);
  });
});

function toName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

function findDoubles(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

/** Whether a row holds back what is of accounts that the caller may not use. */
function isFiltered({ access }: Pick<Route, 'access'>): boolean {
  if (typeof access === 'string') return false;
  const { filter, task, operations } = access;
  return filter?.includes('accounts') === true || task !== undefined || operations === true;
}

/** Whether a function looks at rights, by itself or by a module of an edge that it imports. */
function asksForFilter(module: string): boolean {
  const text = readText(`functions/${module}.ts`);
  const edges = [...text.matchAll(/#((?:[a-z-]+\/)?http\/[\w-]+\.ts)/g)];
  const texts = [text, ...edges.map(([, path]) => readText(`shared/${path}`))];
  return texts.some((each) => /openAccountFilter\(|mayReadTask\(|mayChange\(/.test(each));
}
