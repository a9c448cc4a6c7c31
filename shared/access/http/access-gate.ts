import type { APIGatewayProxyEvent } from 'aws-lambda';
import { AccessDeniedError, UnauthenticatedError } from '#core/errors.ts';
import type { AccessRules } from '#functions/routes.ts';
import { findParameter } from '#http/requests/event-parts.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { closedToManage, openToManagePath, parseAccountsFlag } from '#settings/account-storage.ts';
import {
  type CallerRights,
  createRights,
  denyAccount,
  denyApplication,
  noRights,
  parseReadsChecked,
} from '../authorization.ts';
import type { UserPermission } from '../authorizer.ts';
import type { Identity } from '../identity/identity.ts';
import { openIdentifier } from '../services/identifiers.ts';
import { getRoute } from './access-table.ts';
import { isFromThisMachine } from './machine-caller.ts';
import {
  type AdmitOptions,
  createAccess,
  type GateServices,
  nobody,
  type RequestAccess,
} from './request-access.ts';

/**
 * Checks what the row of a request's route in `functions/routes.ts` asks, before the function sees the request.
 *
 * @throws AccessDeniedError when the caller lacks a right to what the path names; UnauthenticatedError when they cannot prove their
 *   identity; UnavailableError when their rights cannot be found out. Error for a route without a row: it is closed.
 */
export async function admit(event: APIGatewayProxyEvent, options: AdmitOptions): Promise<RequestAccess> {
  const route = (options.getRoute ?? getRoute)(event);
  const { access } = route;
  if (access === 'anonymous') {
    const opened = findGateServices(options.services);
    if (opened !== undefined) options.onOpened?.(opened);
    return createAccess({ route, identity: nobody, rules: {} }, noOnesRights);
  }
  const services = await openGateServices(options);
  options.onOpened?.(services);
  if (access === 'identified') {
    const identity = await identify(event, { ...options, services });
    const loadRights = () => loadReadRights(identity, services, options.signal);
    return createAccess({ route, identity, rules: {} }, { ...noOnesRights, loadRights });
  }
  const { identity, permission, isAskedLate } = await findCaller(event, { ...options, services }, access);
  const { providers, settings } = services;
  const { allowedAccounts } = identity;
  const areReadsChecked = parseReadsChecked(settings);
  const toRights = (held: UserPermission | undefined) => (of: Pick<ProviderSet, 'findAccount'>) =>
    createRights({
      findAccount: (name) => of.findAccount(name),
      permission: held,
      allowedAccounts,
      areReadsChecked,
      manager: access.manager === true ? findManager(event, services) : undefined,
    });
  const loadRights = async () => toRights(await askPermission(identity, services, options.signal))(providers);
  const source = { providers, getRights: toRights(permission), ...(isAskedLate && { loadRights }) };
  const admitted = createAccess({ route, identity, rules: access }, source);
  checkPath(event, { rules: access, rights: admitted.rights, providers });
  return admitted;
}

/** The caller's current rights. By a route that asks no rights they cannot manage accounts. */
async function loadReadRights(
  { user, allowedAccounts }: Identity,
  { providers, settings }: GateServices,
  signal: AbortSignal,
): Promise<CallerRights> {
  const permission = await askPermission({ user }, { providers }, signal);
  const findAccount = (name: string) => providers.findAccount(name);
  const areReadsChecked = parseReadsChecked(settings);
  return createRights({ findAccount, permission, allowedAccounts, areReadsChecked });
}

/** Fiat's permission of a user, or of all callers; undefined without Fiat. @throws UnavailableError when Fiat cannot be asked */
async function askPermission(
  { user }: Pick<Identity, 'user'>,
  { providers }: Pick<GateServices, 'providers'>,
  signal: AbortSignal,
): Promise<UserPermission | undefined> {
  return providers.findAuthorizer()?.getPermission(user, signal);
}

/**
 * Why the caller may manage accounts without Fiat: programs on this machine may, and all callers where the operator says so. In a replica
 * an address proves nothing: through a mesh's sidecar all callers have that of its own pod.
 */
function findManager(
  event: APIGatewayProxyEvent,
  { settings, config: { placement, isReplicated, localManagers } }: Pick<GateServices, 'settings' | 'config'>,
): 'any' | 'local' | undefined {
  const isOpen = parseAccountsFlag(settings, openToManagePath);
  const mayBeLocal = placement === 'local' && !isReplicated && localManagers === 'on';
  if (mayBeLocal && isFromThisMachine(event)) return 'local';
  return isOpen ? 'any' : undefined;
}

const noOnesRights = { getRights: () => noRights };

/** Functions without accounts of their own load the code that reads them with the gate. */
async function openGateServices({ all, services }: AdmitOptions): Promise<GateServices> {
  const opened = findGateServices(services);
  if (opened !== undefined) return opened;
  const { openProviders } = await all.get(createProviderLoader)();
  return openProviders(all);
}

/** Loads once what opens the accounts: Node resolves a dynamic import each time. What fails to load is loaded again. */
function createProviderLoader() {
  let loading: Promise<typeof import('#provider-kit/services/providers.ts')> | undefined;
  const forget = (error: unknown) => {
    loading = undefined;
    throw error;
  };
  return () => (loading ??= import('#provider-kit/services/providers.ts').catch(forget));
}

/** Those that the function itself has opened. */
function findGateServices(services: object): GateServices | undefined {
  return 'providers' in services ? (services as GateServices) : undefined;
}

/** The caller, and Fiat's permission; undefined without Fiat. */
interface Caller {
  readonly identity: Identity;
  readonly permission: UserPermission | undefined;
  /** Whether there is no permission yet: Fiat is asked when it matters. */
  readonly isAskedLate: boolean;
}

interface CallerOptions extends AdmitOptions {
  readonly services: GateServices;
}

/**
 * Finds the caller and their permission. A route that is open to anonymous callers admits those without a proven identity. Fiat is asked
 * for their rights only when these matter: while it starts it polls such a route itself, and could not answer.
 */
async function findCaller(
  event: APIGatewayProxyEvent,
  options: CallerOptions,
  { anonymous }: Pick<AccessRules, 'anonymous'>,
): Promise<Caller> {
  const { services, signal } = options;
  const known = identify(event, options);
  const identity = await (anonymous ? known.catch(toNobody) : known);
  const isAskedLate =
    anonymous === true && identity.user === undefined && services.providers.findAuthorizer() !== undefined;
  const permission = isAskedLate ? nothing : await askPermission(identity, services, signal);
  return { identity, permission, isAskedLate };
}

/** @throws any error but a missing or wrong proof of identity */
function toNobody(error: unknown): Identity {
  if (error instanceof UnauthenticatedError) return nobody;
  throw error;
}

const nothing: UserPermission = {
  user: 'anonymous',
  isAdmin: false,
  isAccountManager: false,
  roles: new Set(),
  accounts: new Map(),
  applications: new Map(),
  allowAccessToUnknownApplications: false,
};

async function identify(
  event: APIGatewayProxyEvent,
  { all, services, onIdentified }: CallerOptions,
): Promise<Identity> {
  const identifier = await openIdentifier(all, services.settings, services);
  const identity = await identifier.identify(event);
  onIdentified?.(identity);
  return identity;
}

/** What a path is checked against. */
interface PathCheck extends Pick<RequestAccess, 'rights'> {
  readonly rules: AccessRules;
  readonly providers: Pick<ProviderSet, 'findAccount' | 'findAuthorizer'>;
}

function checkPath(event: APIGatewayProxyEvent, { rules, rights, providers }: PathCheck): void {
  if (rules.manager && !rights.isManager) {
    throw new AccessDeniedError(
      providers.findAuthorizer() === undefined
        ? closedToManage
        : 'Access denied: only managers of accounts and administrators may do this',
    );
  }
  const account = findParameter(event, 'account') ?? '';
  // The function answers 404 for an account that is not configured.
  if (rules.account && providers.findAccount(account) && !rights.mayUseAccount(account, rules.account)) {
    throw denyAccount(account, rules.account);
  }
  const application = findParameter(event, 'application') ?? '';
  if (rules.application && !rights.mayUseApplication(application, rules.application)) {
    throw denyApplication(application, rules.application);
  }
}
