import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { AuditedAct } from '#access/audit.ts';
import { createRights } from '#access/authorization.ts';
import { RefusedOperationsError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { restartOperations, startOperations } from '#tasks/http/operations-request.ts';
import type { OperationsServices } from '#tasks/services/operations.ts';
import { getTaskId } from '#tasks/task-id.ts';
import { createConfigMap } from '#test/shared/providers/kubernetes/manifests.ts';
import { openProvider } from '#test/shared/providers/kubernetes/provider-setup.ts';
import { fullAccess } from '#test/support/system/request-access.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
const providers = new ProviderSet([openProvider([{ name: 'prod', kubeconfigContents: '{}' }])]);
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await providers[Symbol.asyncDispose]();
  await system[Symbol.asyncDispose]();
});

const permission = {
  ...{ user: 'ada', isAdmin: false, isAccountManager: false, roles: new Set<string>() },
  accounts: new Map([['prod', new Set(['READ', 'WRITE'] as const)]]),
  applications: new Map([
    ['shop', new Set(['READ', 'WRITE'] as const)],
    ['secretapp', new Set(['READ'] as const)],
  ]),
  allowAccessToUnknownApplications: false,
};
const denial = 'Access denied to application secretapp';

/** A request of somebody who may write to the account, and to one of its applications; and what the audit gets of it. */
function openRequest(requestId: string, hasFiat = true) {
  const acts: Omit<AuditedAct, 'action'>[] = [];
  const rights = createRights({
    findAccount: (name) => providers.findAccount(name),
    permission: hasFiat ? permission : undefined,
    allowedAccounts: undefined,
    areReadsChecked: true,
  });
  const request = {
    access: { ...fullAccess, rights, getRights: () => rights },
    audit: (act: AuditedAct) => acts.push(act),
    caller: {},
    findQuery: () => requestId,
    getFlag: () => false,
    signal: new AbortController().signal,
  };
  return { request: request as unknown as ApiRequest, acts };
}

function toServices(busdriver: JsonObject): OperationsServices {
  const environment = { AWS_LAMBDA_FUNCTION_NAME: 'busdriver-dev-start-operations' };
  // A refusal is looked at again with the newest settings: they are the same.
  const live = { refresh: async () => undefined, get: async () => ({ providers }) };
  const all = { environment, get: () => live };
  const parts = { providers, settings: { busdriver }, config: { logLevel: 'info' }, all };
  return { ...system, ...parts } as unknown as OperationsServices;
}

const toBody = (app: string) => ({
  body: [{ deployManifest: { account: 'prod', moniker: { app }, manifests: [createConfigMap('a', {})] } }],
  cloudProvider: 'kubernetes',
});

const findTask = async (requestId: string) =>
  system.store.find(await getTaskId(requestId, system.randomness));

/** The metrics written meanwhile. */
function watchMetrics(): () => readonly JsonObject[] {
  const spy = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  return () =>
    spy.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.includes('_aws'))
      .map((line) => JSON.parse(line));
}

describe('an operation of an application that the caller may not write to', () => {
  test('is refused under enforce, before anything is stored', async () => {
    const { request } = openRequest('enforced');
    const answer = startOperations(request, toServices({ checkApplication: 'enforce' }), toBody('secretapp'));
    await expect(answer).rejects.toThrow(RefusedOperationsError);
    await expect(answer).rejects.toThrow(denial);
    expect(await findTask('enforced')).toBeUndefined();
  });

  test.each([[{}], [{ checkApplication: 'report' }]])(
    'runs with a record and a metric under %j',
    async (settings) => {
      const id = JSON.stringify(settings);
      const { request, acts } = openRequest(id);
      const readMetrics = watchMetrics();
      await startOperations(request, toServices(settings), toBody('secretapp'));
      expect(await findTask(id)).toBeDefined();
      expect(acts).toContainEqual({ action: 'startOperations', wouldRefuse: [denial] });
      expect(readMetrics()).toMatchObject([
        { FunctionName: 'busdriver-dev-start-operations', ReportedRefusals: 1 },
      ]);
    },
  );

  test.each([
    { id: 'under off', check: 'off', app: 'secretapp' },
    { id: 'without Fiat', check: 'enforce', app: 'secretapp', hasFiat: false },
    { id: 'where the caller may write to it', check: 'enforce', app: 'Shop' },
  ])('runs without a word $id', async ({ id, check, app, hasFiat }) => {
    const { request, acts } = openRequest(id, hasFiat);
    const readMetrics = watchMetrics();
    await startOperations(request, toServices({ checkApplication: check }), toBody(app));
    expect(await findTask(id)).toBeDefined();
    expect(JSON.stringify(acts)).not.toContain('wouldRefuse');
    expect(readMetrics()).toEqual([]);
  });

  test('starts no task again under enforce', async () => {
    const { request } = openRequest('again');
    const operations = { ...toBody('secretapp'), id: 'none' };
    const answer = restartOperations(request, toServices({ checkApplication: 'enforce' }), operations);
    await expect(answer).rejects.toThrow(denial);
  });
});
