import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentRoutes, connectionRows } from '#functions/agent-routes.ts';
import { authorizers } from '#functions/authorizers.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { loadSourceFiles, root } from './source-files.ts';

const everyRoute = [...routes, ...agentRoutes, ...operatorRoutes];

const modules = [
  ...everyRoute.map(({ module }) => module),
  ...connectionRows.map(({ module }) => module),
  ...queues.flatMap(({ module, deadLetterModule }) => [module, deadLetterModule]),
  ...schedules.map(({ module }) => module),
  ...authorizers.map(({ module }) => module),
];

describe('the inventory', () => {
  it('has a file for every row', () => {
    const missing = modules.filter((module) => !existsSync(join(root, 'functions', `${module}.ts`)));
    expect(missing).toEqual([]);
  });

  it('has a row for every file', () => {
    const files = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && path.includes('/'))
      .map((path) => path.slice(0, -'.ts'.length));
    expect(files.sort()).toEqual([...new Set(modules)].sort());
  });

  it('has a name of its own for every function: the last part of its module is what Lambda calls it', () => {
    const names = [...new Set(modules)].map((module) => module.split('/').at(-1) ?? '');
    const doubled = names.filter((name, index) => names.indexOf(name) !== index);
    expect(doubled).toEqual([]);
  });

  it('is named in the docstring of each route', () => {
    const sources = new Map(loadSourceFiles().map(({ path, text }) => [path, text]));
    const unnamed = everyRoute.filter(({ method, path, module }) => {
      const text = sources.get(`functions/${module}.ts`) ?? '';
      return !text.replaceAll(/\s*\n \*\s*/g, ' ').includes(`${method} ${path}`);
    });
    expect(unnamed.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('has no two rows for one route', () => {
    const keys = everyRoute.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });
});

describe('routes fit API Gateway', () => {
  it('have only whole-segment variables', () => {
    const paths = everyRoute.map(({ path }) => path).filter((path) => path !== '/');
    const parts = paths.flatMap((path) => path.split('/').slice(1));
    expect(parts.filter((part) => !/^(\{[A-Za-z]+\}|[A-Za-z0-9._-]+)$/.test(part))).toEqual([]);
  });

  it('give sibling variables one name', () => {
    const names = new Map<string, Set<string>>();
    for (const { path } of everyRoute) {
      const parts = path.split('/');
      for (const [index, part] of parts.entries()) {
        if (!part.startsWith('{')) continue;
        const parent = parts.slice(0, index).join('/');
        names.set(parent, (names.get(parent) ?? new Set()).add(part));
      }
    }
    const clashes = [...names].filter(([, variables]) => variables.size > 1);
    expect(clashes.map(([parent, variables]) => `${parent}: ${[...variables].join(' ')}`)).toEqual([]);
  });

  it('end below twenty seconds when they only read', () => {
    const slow = everyRoute.filter(({ method, timeoutSeconds }) => method === 'GET' && timeoutSeconds > 20);
    expect(slow).toEqual([]);
  });
});

describe('routes of agents and operators', () => {
  it.each([
    { page: 'agent/README.md', rows: agentRoutes },
    { page: 'agent-routes.md', rows: operatorRoutes },
  ])('are in docs/$page, each in a row of its own', ({ page, rows }) => {
    const text = readFileSync(join(root, 'docs', page), 'utf8');
    const missing = rows.filter(({ method, path }) => !text.includes(`| ${method} \`${path}\` |`));
    expect(missing).toEqual([]);
  });

  it('are those of agents, and no others are', () => {
    expect(agentRoutes.filter(({ api, path }) => api !== 'agent' || !path.startsWith('/agent/v1/'))).toEqual(
      [],
    );
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
