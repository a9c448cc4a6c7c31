import { ConflictError, NotFoundError, UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  type ApiFunction,
  type ApiLogic,
  type ApiRequest,
  type ApiResponse,
  apiHandler,
  type LoggingServices,
  ok,
} from '#http/api-handler.ts';
import { toPlainErrorBody } from '#http/error-body.ts';
import { accountForm } from '#providers/account-form.ts';
import { plugins } from '#providers/index.ts';
import { maskDefinition } from '../definition-secrets.ts';
import type { AccountServices } from '../management/accounts.ts';
import type { AccountChecks } from '../model/account-form.ts';
import type { StoredAccount } from '../model/account-store.ts';
import {
  type AccountWrite,
  checkDefinition,
  deleteAccount,
  isNameTaken,
  mayChange,
  saveDefinition,
  writeDefinition,
} from './account-request.ts';
import { filterBySecrets } from './account-secrets.ts';

const { form, provider: providerName } = accountForm;

/** Makes the function of one of go-clouddriver's routes: as `apiHandler`, but with errors in its form, `{"error": "…"}`. */
export function providerHandler<C extends LoggingServices>(
  open: ApiLogic<C>['open'],
  run: ApiLogic<C>['run'],
): ApiFunction {
  return apiHandler(open, run, toPlainErrorBody);
}

/** Creates an account under a free name: 201. @throws ConflictError if taken; what `AccountInForm.check` and `writeDefinition` throw */
export async function createProvider(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const { name, check } = form.read(request.parseJson());
  request.audit({ action: 'changeAccount', account: name });
  const refuse = (): never => {
    throw new ConflictError('provider already exists');
  };
  if (await isNameTaken(services, name)) refuse();
  const change = { before: undefined, verb: 'create', origin: 'providers' } as const;
  const definition = await check(getChecks(request, services, change));
  const saved = (await writeDefinition(request, services, { ...change, definition })) ?? refuse();
  return { ...ok(toView(saved)), status: 201 };
}

/** Creates or replaces an account. @throws what `AccountInForm.check` and `saveDefinition` throw */
export async function saveProvider(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const { name, check } = form.read(request.parseJson());
  request.audit({ action: 'changeAccount', account: name });
  const saved = await saveDefinition(request, services, {
    ...{ name, origin: 'providers' },
    define: (before) => check(getChecks(request, services, { before, verb: 'save' })),
  });
  return ok(toView(saved));
}

/** The stored accounts of this form that the caller may change, by name. */
export async function listProviders(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const accounts = await services.accounts.list({ type: providerName });
  const definitions = accounts.filter((account) =>
    mayChange(request, services, { name: account.name, stored: account }),
  );
  const usable = await filterBySecrets(request, services, {
    definitions,
    limit: Math.max(1, definitions.length),
  });
  return ok(usable.flatMap((account) => toView(account) ?? []));
}

/** The account of the path. @throws NotFoundError when there is none of this form */
export async function getProvider(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const name = request.getParameter('account');
  const stored = await services.accounts.find(name);
  const view = stored && toView(stored);
  if (stored === undefined || view === undefined) throw createAbsence();
  if (!mayChange(request, services, { name, stored })) throw createAbsence();
  return ok(view);
}

/** Deletes the account of the path: 204. @throws NotFoundError when there is none of this form */
export async function deleteProvider(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const stored = await services.accounts.find(request.getParameter('account'));
  if (stored === undefined || toView(stored) === undefined) throw createAbsence();
  await deleteAccount(request, services);
  return { status: 204, body: '' };
}

function getChecks(
  request: ApiRequest,
  services: AccountServices,
  change: Pick<AccountWrite, 'before' | 'verb'>,
): AccountChecks {
  const provider = services.providers.findProvider(providerName);
  return {
    async checkRights(definition) {
      await checkDefinition(request, services, { ...change, definition });
    },
    async checkCredential(definition) {
      if (provider?.checkCredential === undefined) throw new UnavailableError(`${providerName} is not there`);
      await provider.checkCredential(definition);
    },
  };
}

/** Undefined for an account that the form cannot express. */
function toView(stored: StoredAccount): JsonObject | undefined {
  return form.toView({ ...stored, body: maskDefinition(stored, plugins) });
}

function createAbsence(): NotFoundError {
  return new NotFoundError('provider not found');
}
