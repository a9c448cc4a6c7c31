import { denyAccount } from '#access/authorization.ts';
import { endFormerAgents } from '#agents/services/former-agents.ts';
import { openHints } from '#agents/sessions/hints.ts';
import {
  AccessDeniedError,
  getErrorMessage,
  InvalidInputError,
  RefusedChangeError,
  UnavailableError,
} from '#core/errors.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { checkRevision, toTag } from '#http/entity-tag.ts';
import { openNewestProviders } from '#provider-kit/services/providers.ts';
import { plugins } from '#providers/index.ts';
import { parseAccountsFlag, plainSecretsPath, shutOut } from '#settings/account-storage.ts';
import { checkAccountDefinition, parseAccountDefinition } from '../account-definitions.ts';
import { keepOptions } from '../account-options.ts';
import { type DefinitionChange, toDefinitionEvent } from '../definition-event.ts';
import { maskDefinition, unmaskDefinition } from '../definition-secrets.ts';
import type { AccountServices } from '../management/accounts.ts';
import type { AccountDefinition, AccountOrigin, StoredAccount } from '../model/account-store.ts';
import { type AccountAccess, parseAccess } from '../permissions.ts';
import { findConfigured, toAbsence, toUnknown } from './account-absence.ts';
import { checkIdentityRights, checkSecretRights } from './account-secrets.ts';

/** Attempts to write in one request, each after another one changed the account. */
const attemptsMax = 5;

/**
 * The body of a request that defines an account, without members that are no options, which Clouddriver drops, too: the log names them.
 *
 * @throws what `parseAccountDefinition` throws
 */
export function parseAccountBody(
  request: ApiRequest,
  { log }: Pick<AccountServices, 'log'>,
): AccountDefinition {
  const { name, type, body } = parseAccountDefinition(request.parseJson(), plugins);
  request.audit({ action: 'changeAccount', account: name });
  const options = plugins.find((plugin) => plugin.name === type)?.storedAccounts?.options ?? { known: [] };
  const { kept, dropped } = keepOptions(body, options);
  for (const reason of dropped) log.warn('account with an unknown key', { account: name, reason });
  return { name, type, body: kept };
}

/** Creates an account. @throws RefusedChangeError when its name is taken; InvalidInputError for a definition that no provider accepts */
export async function createAccount(
  request: ApiRequest,
  services: AccountServices,
  definition: AccountDefinition,
): Promise<ApiResponse> {
  const { name } = definition;
  const refuse = (): never => {
    throw new RefusedChangeError(`Cannot create an account which already exists (name: ${name})`);
  };
  if (await isNameTaken(services, name)) refuse();
  const saved = await writeDefinition(request, services, { definition, before: undefined, verb: 'create' });
  return saved === undefined ? refuse() : answer(request, services, saved);
}

/** Whether the name of an account is taken, in any case. */
export async function isNameTaken(services: AccountServices, name: string): Promise<boolean> {
  return (
    findConfigured(services, name) !== undefined || (await services.accounts.findAnyCase(name)) !== undefined
  );
}

/** Creates or replaces an account. @throws what `saveDefinition` throws */
export async function saveAccount(
  request: ApiRequest,
  services: AccountServices,
  definition: AccountDefinition,
): Promise<ApiResponse> {
  const { name } = definition;
  const saved = await saveDefinition(request, services, { name, define: async () => definition });
  return answer(request, services, saved);
}

interface Saving extends Pick<AccountWrite, 'origin'> {
  readonly name: string;
  /** The new definition; called once the caller may write it, and again when another request changed the account meanwhile. */
  define(before: StoredAccount | undefined): Promise<AccountDefinition>;
}

/**
 * Creates or replaces an account.
 *
 * @throws AccessDeniedError when it exists and the caller may not change it; RefusedChangeError for a name that differs only in case from
 *   another one; InvalidInputError for a definition that no provider accepts
 */
export async function saveDefinition(
  request: ApiRequest,
  services: AccountServices,
  { name, define, origin }: Saving,
): Promise<StoredAccount> {
  return repeat(name, async () => {
    const before = await findWritable(services, name);
    checkRevision(request, name, before);
    const isThere = before !== undefined || findConfigured(services, name) !== undefined;
    if (isThere && !mayChange(request, services, { name, stored: before })) {
      throw new AccessDeniedError(`Unauthorized to overwrite existing account (name: ${name})`);
    }
    return writeDefinition(request, services, {
      definition: await define(before),
      origin,
      before,
      verb: 'save',
    });
  });
}

/** Replaces the account of the path. @throws RefusedChangeError when the names differ; what `replaceDefinition` throws */
export async function updateAccount(
  request: ApiRequest,
  services: AccountServices,
  definition: AccountDefinition,
): Promise<ApiResponse> {
  const { name } = definition;
  const path = request.getParameter('account');
  if (path !== name) {
    throw new RefusedChangeError(
      `Mismatched account names. URI value: ${path}. Request body value: ${name}.`,
    );
  }
  const saved = await replaceDefinition(request, services, { name, define: () => definition });
  return answer(request, services, saved);
}

interface Replacement extends Pick<AccountWrite, 'origin'> {
  readonly name: string;
  /** The new definition; may be called again when another request changed the account meanwhile. */
  define(before: StoredAccount): AccountDefinition;
}

/**
 * Replaces an account.
 *
 * @throws RefusedChangeError when there is none; NotFoundError for one that the settings have; AccessDeniedError;
 *   PreconditionFailedError; what `writeDefinition` throws
 */
export async function replaceDefinition(
  request: ApiRequest,
  services: AccountServices,
  { name, define, origin }: Replacement,
): Promise<StoredAccount> {
  return repeat(name, async () => {
    const before = await services.accounts.find(name);
    if (before === undefined && findConfigured(services, name) !== name) {
      throw new RefusedChangeError(`Cannot update an account which does not exist (name: ${name})`);
    }
    if (!mayChange(request, services, { name, stored: before })) throw denyAccount(name, 'WRITE');
    // Only the settings have it.
    if (before === undefined) throw toUnknown(name);
    checkRevision(request, name, before);
    return writeDefinition(request, services, {
      definition: define(before),
      ...{ before, origin, verb: 'update' },
    });
  });
}

/** Deletes the account of the path. @throws what `removeDefinition` throws */
export async function deleteAccount(request: ApiRequest, services: AccountServices): Promise<ApiResponse> {
  const name = request.getParameter('account');
  request.audit({ action: 'changeAccount', account: name });
  await removeDefinition(request, services, { name });
  return { status: 200, body: '', contentType: 'application/octet-stream' };
}

/** Which account to delete. */
export interface Removal {
  readonly name: string;
  /** Checks the account first, and throws where it must not be deleted. Default: no check. */
  check?(before: StoredAccount): void;
}

/**
 * Deletes an account.
 *
 * @throws NotFoundError when there is none; RefusedChangeError for one that the settings have; AccessDeniedError;
 *   PreconditionFailedError; what the check throws
 */
export async function removeDefinition(
  request: ApiRequest,
  services: AccountServices,
  { name, check }: Removal,
): Promise<void> {
  const modifiedBy = request.access.identity.user;
  await repeat(name, async () => {
    const before = await getChangeable(request, services, name);
    check?.(before);
    checkRevision(request, name, before);
    const end = await endFormerAgents(services, { before, after: undefined, by: modifiedBy });
    const revision = await services.accounts.remove(name, { expected: before.revision, modifiedBy });
    if (revision === undefined) return undefined;
    await end?.();
    await tell(services, { name, type: before.type, revision, change: 'deleted', by: modifiedBy });
    return before;
  });
}

/** A stored account that the caller may change. @throws NotFoundError; RefusedChangeError for one of the settings; AccessDeniedError */
export async function getChangeable(
  request: Pick<ApiRequest, 'access'>,
  services: AccountServices,
  name: string,
): Promise<StoredAccount> {
  const stored = await services.accounts.find(name);
  if (stored === undefined) throw toAbsence(services, name);
  if (!mayChange(request, services, { name, stored })) throw denyAccount(name, 'WRITE');
  return stored;
}

/** Whether the caller may change an existing account. The store takes precedence over what this process knows. */
export function mayChange(
  { access }: Pick<ApiRequest, 'access'>,
  { providers }: Pick<AccountServices, 'providers'>,
  { name, stored }: { readonly name: string; readonly stored: StoredAccount | undefined },
): boolean {
  const find = () => (stored === undefined ? providers.findAccount(name) : findAccess(stored));
  return access
    .getRights({ findAccount: (wanted) => (wanted === name ? toAccount(find()) : undefined) })
    .mayUseAccount(name, 'WRITE');
}

type Rights = Parameters<ApiRequest['access']['getRights']>[0];
type KnownAccount = ReturnType<Rights['findAccount']>;

/** Only its permissions are needed. */
function toAccount(access: Pick<NonNullable<KnownAccount>, 'permissions'> | undefined): KnownAccount {
  if (access === undefined) return undefined;
  return {
    name: '',
    cloudProvider: '',
    environment: '',
    accountType: '',
    requiredGroupMembership: [],
    details: {},
    ...access,
  };
}

/** The permissions of a stored account; undefined where they cannot be read: nobody has any then. */
export function findAccess({ body, unreadable }: StoredAccount): AccountAccess | undefined {
  if (unreadable !== undefined) return undefined;
  try {
    return parseAccess(body);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return undefined;
  }
}

/** One change of an account. */
export interface AccountWrite {
  readonly definition: AccountDefinition;
  /** The API that writes it. Default: Clouddriver's. */
  readonly origin?: AccountOrigin | undefined;
  /** The account as it was read; undefined where there was none. */
  readonly before: StoredAccount | undefined;
  readonly verb: 'create' | 'save' | 'update';
}

/**
 * Checks a definition by all rules, writes it, and publishes the change.
 *
 * @returns undefined when another request changed the account meanwhile
 * @throws what `checkDefinition` throws
 */
export async function writeDefinition(
  request: ApiRequest,
  services: AccountServices,
  write: AccountWrite,
): Promise<StoredAccount | undefined> {
  const definition = await checkDefinition(request, services, write);
  return storeDefinition(request, services, { ...write, definition });
}

/**
 * Checks a definition by all rules.
 *
 * @returns it with the secrets that it keeps
 * @throws InvalidInputError for a definition that no provider accepts; RefusedChangeError and AccessDeniedError where the caller may not
 */
export async function checkDefinition(
  request: ApiRequest,
  services: AccountServices,
  { definition, before, verb }: Omit<AccountWrite, 'origin'>,
): Promise<AccountDefinition> {
  const { name, type } = definition;
  if (before !== undefined && before.type !== type) {
    throw new InvalidInputError(`type: expected ${before.type}, which account ${name} has: delete it first`);
  }
  const filled = unmaskDefinition(definition, before?.body, plugins);
  const { permissions } = parseAccess(filled.body);
  if (permissions?.WRITE && !request.access.rights.hasGroupOf(permissions.WRITE)) {
    throw new RefusedChangeError(
      `Cannot ${verb} account without granting permissions for current user (name: ${name})`,
    );
  }
  const { settings, config, clock, randomness, log } = services;
  const { placement, servesAgents } = config;
  await checkAccountDefinition(filled, {
    plugins,
    arePlainSecretsAllowed: parseAccountsFlag(
      settings,
      plainSecretsPath,
      request.access.rights.isLocalManager,
    ),
    options: { settings, clock, randomness, log, placement, servesAgents },
  });
  await checkSecretRights(request, services, { definition: filled, verb });
  await checkIdentityRights(request, services, { definition: filled, verb });
  return filled;
}

/** Writes a checked definition, and publishes the change. @returns undefined when another request changed the account meanwhile */
export async function storeDefinition(
  request: ApiRequest,
  services: AccountServices,
  { definition, before, origin = 'credentials' }: Omit<AccountWrite, 'verb'>,
): Promise<StoredAccount | undefined> {
  const { user } = request.access.identity;
  const end = await endFormerAgents(services, { before, after: definition, by: user });
  const saved = await services.accounts.save(
    { ...definition, origin },
    { expected: before?.revision, modifiedBy: user },
  );
  if (saved === undefined) return undefined;
  await end?.();
  const { name, type, revision } = saved;
  await tell(services, { name, type, revision, change: before ? 'updated' : 'created', by: user });
  return saved;
}

/** Notifies others, and this process itself at once. If that fails, they see the store's version within seconds. */
async function tell(
  { bus, clock, log, all, config }: AccountServices,
  change: DefinitionChange,
): Promise<void> {
  const published = bus.publish([toDefinitionEvent(change, clock.now())]);
  // When deployed, this function uses facts, which are published again.
  const seen = config.placement === 'local' ? openNewestProviders(all) : undefined;
  for (const outcome of await Promise.allSettled([
    published,
    seen?.then(() => tellAgents(all, change.name)),
  ])) {
    if (outcome.status === 'rejected') {
      log.warn('a change of an account could not be told at once', {
        account: change.name,
        cause: getErrorMessage(outcome.reason),
      });
    }
  }
}

/** Connected agents of the account renew their sessions at once: their grants may have changed. */
async function tellAgents(all: AccountServices['all'], account: string): Promise<void> {
  await openHints(all).send({ kind: 'ACCOUNTS', account, id: '' });
}

/** Tries again while others change the same account. @throws UnavailableError when they keep doing so */
async function repeat(
  name: string,
  attempt: () => Promise<StoredAccount | undefined>,
): Promise<StoredAccount> {
  for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
    const done = await attempt();
    if (done !== undefined) return done;
  }
  throw new UnavailableError(`The account ${name} is being changed by others; try again`);
}

/** The stored account. @throws RefusedChangeError for a name that differs only in case from another one */
async function findWritable(services: AccountServices, name: string): Promise<StoredAccount | undefined> {
  const found = await services.accounts.findAnyCase(name);
  const taken = found?.name ?? findConfigured(services, name) ?? name;
  if (taken === name) return found;
  throw new RefusedChangeError(`Cannot create an account which already exists (name: ${taken})`);
}

/** The account as stored, with warnings for its writer. */
function answer(request: ApiRequest, services: AccountServices, account: StoredAccount): ApiResponse {
  const { name } = account;
  const isShutOut =
    services.providers.findAuthorizer() === undefined &&
    !mayChange(request, services, { name, stored: account });
  const shown = { ...maskDefinition(account, plugins), ...(isShutOut && { warnings: [shutOut] }) };
  return { ...ok(shown), headers: { ETag: toTag(account) } };
}
