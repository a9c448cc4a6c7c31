import { describe, expect, it } from 'vitest';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { type Route, routes } from '#functions/routes.ts';
import { loadSourceFiles } from './source-files.ts';

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
  'api/other-providers/list-networks': 'there are none',
  'api/other-providers/list-nothing': 'there is nothing',
  'api/plugins/list-installed-plugins': 'plugins',
  'api/providers/create-provider': 'the account of the body',
  'api/providers/save-provider': 'the account of the body, which asks WRITE',
  'operators/activate-accounts': 'accounts of the body, each of which asks WRITE',
  'operators/create-dynamic-accounts': 'accounts of the body',
  'operators/delete-accounts': 'accounts of the body, each of which asks WRITE',
  'operators/get-clouddriver': 'addresses',
  'operators/get-pool-settings': 'it answers nothing',
  'operators/list-clouddrivers': 'addresses',
  'operators/migrate-accounts': 'accounts of the body, each of which asks WRITE',
  'operators/update-dynamic-account': 'the account of the body, which asks WRITE',
};

const open = [...routes, ...operatorRoutes].filter(({ path }) => !path.includes('{account}'));

/** Whether a row holds back what is of accounts that the caller may not use. */
function isFiltered({ access }: Pick<Route, 'access'>): boolean {
  if (typeof access === 'string') return false;
  const { filter, task, operations } = access;
  return filter?.includes('accounts') === true || task !== undefined || operations === true;
}

describe('routes without {account} in their path', () => {
  it('say in their rows that what they name of accounts is filtered, unless they name none', () => {
    const forgotten = open.filter((row) => !isFiltered(row) && !Object.hasOwn(unfiltered, row.module));
    expect(forgotten.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    const modules = new Set(open.filter((row) => !isFiltered(row)).map(({ module }) => module));
    expect(Object.keys(unfiltered).filter((module) => !modules.has(module))).toEqual([]);
  });

  it('are answered by functions that ask for it', () => {
    const sources = new Map(loadSourceFiles().map(({ path, text }) => [path, text]));
    const readWith = (module: string): string => {
      const text = sources.get(`functions/${module}.ts`) ?? '';
      const imported = [...text.matchAll(/#([a-z-]+\/)?http\/[\w-]+\.ts/g)];
      return [text, ...imported.map(([path]) => sources.get(path.replace('#', 'shared/')) ?? '')].join('\n');
    };
    const filtered = open.filter(
      ({ access }) => typeof access === 'object' && access.filter?.includes('accounts'),
    );
    expect(filtered.length).toBeGreaterThan(20);
    const asking = /openAccountFilter\(|mayReadTask\(|mayChange\(/;
    const silent = filtered.filter(({ module }) => !asking.test(readWith(module)));
    expect(silent.map(({ module }) => module)).toEqual([]);
  });
});
