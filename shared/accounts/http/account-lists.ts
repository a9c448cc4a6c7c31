import { denyAccount } from '#access/authorization.ts';
import { InvalidInputError } from '#core/errors.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { plugins } from '#providers/index.ts';
import { maskDefinition } from '../definition-secrets.ts';
import type { AccountServices } from '../management/accounts.ts';
import { toUnrecorded } from './account-absence.ts';
import { mayChange } from './account-request.ts';
import { filterBySecrets } from './account-secrets.ts';

/** Definitions in one answer: Clouddriver's default, and the maximum. */
const limits = { default: 100, most: 1_000 };

/**
 * The definitions of a type that the caller may change, and whose user secrets they may use, by name, with masked secrets. None for a type
 * that is not stored.
 *
 * @throws InvalidInputError for an invalid limit
 */
export async function listDefinitions(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const type = request.getParameter('type');
  const startingName = request.findQuery('startingAccountName') || undefined;
  const limit = parseLimit(request.findQuery('limit'));
  const accounts = await services.accounts.list({ type, startingName });
  const own = accounts.filter((account) =>
    mayChange(request, services, { name: account.name, stored: account }),
  );
  const usable = await filterBySecrets(request, services, { definitions: own, limit });
  return ok(usable.map((account) => maskDefinition(account, plugins)));
}

/** Every change of an account, newest first. @throws NotFoundError for a name that was never stored; AccessDeniedError */
export async function listHistory(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const name = request.getParameter('account');
  const [stored, revisions] = await Promise.all([
    services.accounts.find(name),
    services.accounts.listHistory(name),
  ]);
  const last = revisions.find(({ body }) => body !== undefined);
  if (last?.body?.['name'] !== name) throw toUnrecorded(services, name);
  if (stored !== undefined && !mayChange(request, services, { name, stored }))
    throw denyAccount(name, 'WRITE');
  const type = String(last.body['type']);
  return ok(
    revisions.map(({ revision, timestampMs, body }) => ({
      version: revision,
      timestamp: timestampMs,
      ...(body && { account: maskDefinition({ name, type, body }, plugins) }),
    })),
  );
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return limits.default;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= limits.most) return limit;
  throw new InvalidInputError(`limit: expected a whole number from 1 to ${limits.most}`);
}
