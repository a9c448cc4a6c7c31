import { denyAccount } from '#access/authorization.ts';
import { hasAgent, toAgentDefinition } from '#accounts/agent-definitions.ts';
import {
  checkDefinition,
  getChangeable,
  isNameTaken,
  mayChange,
  removeDefinition,
  replaceDefinition,
  storeDefinition,
} from '#accounts/http/account-request.ts';
import type { AccountDefinition, StoredAccount } from '#accounts/model/account-store.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { NotFoundError, RefusedChangeError } from '#core/errors.ts';
import type { ApiRequest, ApiResponse } from '#http/api-handler.ts';
import { toTag } from '#http/entity-tag.ts';
import { plugins } from '#providers/index.ts';
import { enrolAgents, revokeAgents } from '../agent-enrolment.ts';
import type { AgentAccountServices, DynamicAccountServices } from '../services/agent-accounts.ts';
import { endSessions } from '../services/ended-sessions.ts';
import { changeEach, checkEach, type PlacedAccount } from './account-batch.ts';
import {
  type AccountActivation,
  parseActivations,
  parseDefinitions,
  parseMigrations,
  parseNames,
  parseReplacement,
} from './dynamic-account-body.ts';

/** Accounts that are looked up at a time. */
const lookupsAtOnce = 8;

const nothing = { body: '', contentType: 'application/octet-stream' } as const;

/**
 * Creates accounts that agents serve. None is let in before {@link activateAccounts}. Where one of them is of no use nothing is done;
 * those whose names are taken are answered, 409, and the others created.
 *
 * @throws InvalidInputError with what is wrong, and where; AccessDeniedError; what `changeEach` throws
 */
export async function createDynamicAccounts(
  request: ApiRequest,
  services: DynamicAccountServices,
): Promise<ApiResponse> {
  const accounts = await parseDefinitions(request);
  auditAccounts(request, accounts);
  const taken = await mapConcurrently(accounts, lookupsAtOnce, ({ name }) => isNameTaken(services, name));
  const plans = accounts
    .filter((_, index) => !taken[index])
    .map(({ name, place, definition }) => ({ name, place, before: undefined, define: () => definition }));
  const known = accounts.filter((_, index) => taken[index]).map(({ name }) => name);
  return storeInactive(request, services, { plans, known });
}

/**
 * Has agents serve stored accounts that were reached from here so far. None is let in before {@link activateAccounts}. Where one of them
 * is of no use nothing is done; those that have agents already are answered, 409, and the others changed.
 *
 * @throws as `createDynamicAccounts` does
 */
export async function migrateAccounts(
  request: ApiRequest,
  services: DynamicAccountServices,
): Promise<ApiResponse> {
  const accounts = await parseMigrations(request);
  auditAccounts(request, accounts);
  const known = new Set<string>();
  const plans: AccountPlan[] = [];
  await checkEach(accounts, async ({ name, place, agent }) => {
    if (isOfSettings(services, name) && services.providers.getAccount(name).agentHome !== undefined) {
      known.add(name);
      return;
    }
    const before = await getChangeable(request, services, name);
    if (hasAgent(before)) known.add(name);
    else plans.push({ name, place, before, define: () => toAgentDefinition(before, agent, plugins) });
  });
  return storeInactive(request, services, { plans, known: [...known] });
}

/** An account that is to be stored. */
interface AccountPlan extends PlacedAccount {
  readonly before: StoredAccount | undefined;
  define(): AccountDefinition;
}

async function storeInactive(
  request: ApiRequest,
  services: DynamicAccountServices,
  { plans, known }: { readonly plans: readonly AccountPlan[]; readonly known: readonly string[] },
): Promise<ApiResponse> {
  const checked = new Map<string, AccountDefinition>();
  await checkEach(plans, async ({ name, before, define }) => {
    const verb = before === undefined ? 'create' : 'update';
    checked.set(name, await checkDefinition(request, services, { definition: define(), before, verb }));
  });
  const late: string[] = [];
  await changeEach(plans, { ...services, signal: request.signal }, async ({ name, before }) => {
    const definition = checked.get(name);
    if (definition === undefined) return;
    // First, so that no agent is let in between the two.
    await setAgentsActive(request, services, { name, isActive: false });
    const saved = await storeDefinition(request, services, { definition, before, origin: 'agents' });
    if (saved === undefined) late.push(name);
  });
  const refused = [...known, ...late];
  return {
    status: refused.length === 0 ? 202 : 409,
    body: JSON.stringify(refused.map((name) => ({ name }))),
  };
}

/**
 * Replaces an account that agents serve. Whether they are let in stays as it is, and so does whose proof it takes where the body says
 * nothing of that.
 *
 * @throws InvalidInputError naming the field; RefusedChangeError for an account that is not there, or has no agents; AccessDeniedError;
 *   PreconditionFailedError
 */
export async function updateDynamicAccount(
  request: ApiRequest,
  services: DynamicAccountServices,
): Promise<ApiResponse> {
  const { name, define } = parseReplacement(request);
  auditAccounts(request, [{ name }]);
  const saved = await replaceDefinition(request, services, {
    name,
    origin: 'agents',
    define(before) {
      if (hasAgent(before)) return define(before);
      throw new RefusedChangeError(`${describeUnserved(name)}: POST /armory/accounts has agents serve it`);
    },
  });
  return { status: 202, body: '[]', headers: { ETag: toTag(saved) } };
}

/**
 * Lets the agents of accounts in, or shuts them out and ends their sessions. Where one account is of no use nothing is done.
 *
 * @throws InvalidInputError with what is wrong, and where; AccessDeniedError; what `changeEach` throws
 */
export async function activateAccounts(
  request: ApiRequest,
  services: AgentAccountServices,
): Promise<ApiResponse> {
  const accounts = await parseActivations(request);
  auditAccounts(request, accounts, 'changeAgent');
  await checkEach(accounts, async ({ name }) => {
    const { stored } = await getAgentAccount(services, name);
    if (!mayChange(request, services, { name, stored })) throw denyAccount(name, 'WRITE');
  });
  await changeEach(accounts, { ...services, signal: request.signal }, (account) =>
    setAgentsActive(request, services, account),
  );
  return { status: 202, ...nothing };
}

/**
 * Deletes accounts that agents serve. Where one of them is not there, or is not to be deleted, nothing is done.
 *
 * @throws InvalidInputError with what is wrong, and where; AccessDeniedError; what `changeEach` throws
 */
export async function deleteDynamicAccounts(
  request: ApiRequest,
  services: DynamicAccountServices,
): Promise<ApiResponse> {
  const accounts = await parseNames(request);
  auditAccounts(request, accounts);
  await checkEach(accounts, async ({ name }) => checkServed(await getChangeable(request, services, name)));
  await changeEach(accounts, { ...services, signal: request.signal }, ({ name }) =>
    removeDefinition(request, services, { name, check: checkServed }),
  );
  return { status: 202, ...nothing };
}

/** Deletes the account of the path. @throws NotFoundError for one without agents; what `removeDefinition` throws */
export async function deleteDynamicAccount(
  request: ApiRequest,
  services: DynamicAccountServices,
): Promise<ApiResponse> {
  const name = request.getParameter('account');
  auditAccounts(request, [{ name }]);
  await removeDefinition(request, services, { name, check: checkServed });
  return { status: 204, ...nothing };
}

/** Accounts of the store that this process does not know yet count as well. @throws NotFoundError for an account without agents */
export async function getAgentAccount(
  services: AgentAccountServices,
  name: string,
): Promise<{ readonly name: string; readonly stored: StoredAccount | undefined }> {
  const stored = await services.accounts?.find(name);
  if (stored !== undefined) {
    checkServed(stored);
    return { name, stored };
  }
  if (!isOfSettings(services, name)) throw new NotFoundError(`No account found with name ${name}`);
  if (services.providers.getAccount(name).agentHome === undefined)
    throw new NotFoundError(describeUnserved(name));
  return { name, stored };
}

/** Whether the settings have an account. One of the store that this process knows may be gone by now. */
function isOfSettings({ providers, storedAccounts }: AgentAccountServices, name: string): boolean {
  return (
    providers.findAccount(name) !== undefined && !storedAccounts.some((account) => account.name === name)
  );
}

/** @throws NotFoundError for an account without agents */
function checkServed(stored: StoredAccount): void {
  if (!hasAgent(stored)) throw new NotFoundError(describeUnserved(stored.name));
}

function describeUnserved(name: string): string {
  return `Account ${name} has no agents: its cluster is reached from here`;
}

/** Repeating it changes nothing, but for sessions that did not end the time before. */
async function setAgentsActive(
  request: ApiRequest,
  services: Pick<AgentAccountServices, 'enrolments' | 'sessions' | 'hints' | 'clock'>,
  { name, isActive }: Pick<AccountActivation, 'name' | 'isActive'>,
): Promise<void> {
  const author = { atMs: services.clock.now(), by: request.access.identity.user };
  await services.enrolments.change(name, (before) => {
    if (before.isRevoked !== isActive) return undefined;
    return isActive ? enrolAgents(before, false, author) : revokeAgents(before, author);
  });
  if (!isActive) await endSessions(services, name);
}

function auditAccounts(
  request: ApiRequest,
  accounts: readonly Pick<PlacedAccount, 'name'>[],
  action: 'changeAccount' | 'changeAgent' = 'changeAccount',
): void {
  const names = accounts.map(({ name }) => name);
  request.audit({ action, account: names[0], ...(names.length > 1 && { accounts: names }) });
}
