import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Access, AccessRules } from '../../functions/routes.ts';
import {
  createRights,
  denyAccount,
  denyApplication,
  noRights,
  parseReadsChecked,
} from '../core/authorization.ts';
import { AccessDeniedError } from '../core/errors.ts';
import type { ProviderSet } from '../core/provider-set.ts';
import { getRoute } from './access-table.ts';
import { findParameter } from './api-request.ts';
import { identify } from './caller-identity.ts';
import type { OpenedProviders } from './live-providers.ts';
import { createAccess, type RequestAccess } from './request-access.ts';

const nobody = { getRights: () => noRights };

/** The context of a function, which has the accounts or has not. */
type GateContext = object | OpenedProviders;

/**
 * Asks what the row of a request's route in `functions/routes.ts` says, before the function sees the request.
 *
 * @throws AccessDeniedError when the caller lacks a right to what the path names; UnauthenticatedError when he cannot prove who he
 *   is; UnavailableError when nobody can tell what he may do. Error for a route without a row: it is nobody's.
 */
export async function admit(
  event: APIGatewayProxyEvent,
  { context, signal }: { readonly context: GateContext; readonly signal: AbortSignal },
): Promise<RequestAccess> {
  const route = getRoute(event);
  const { access } = route;
  if (access === 'anonymous') return createAccess({ route, identity: {}, rules: {} }, nobody);
  const { providers, settings } = await openAccounts(context);
  const rules = toRules(access);
  const identity = identify(event);
  if (access === 'identified') return createAccess({ route, identity, rules }, nobody);
  const permission = await providers.findAuthorizer()?.getPermission(identity.user, signal);
  const areReadsChecked = parseReadsChecked(settings);
  const { allowedAccounts } = identity;
  const admitted = createAccess(
    { route, identity, rules },
    {
      providers,
      getRights: (of) =>
        createRights({
          findAccount: (name) => of.findAccount(name),
          permission,
          allowedAccounts,
          areReadsChecked,
        }),
    },
  );
  checkPath(event, { ...admitted, providers });
  return admitted;
}

function toRules(access: Exclude<Access, 'anonymous'>): AccessRules {
  return access === 'identified' ? {} : access;
}

/** Functions that need no accounts themselves load what reads them when the gate does. */
async function openAccounts(context: GateContext): Promise<OpenedProviders> {
  if ('providers' in context && 'settings' in context) return context;
  const { openProviderContext } = await import('./provider-context.ts');
  return openProviderContext();
}

function checkPath(
  event: APIGatewayProxyEvent,
  { rules, rights, providers }: RequestAccess & { readonly providers: Pick<ProviderSet, 'findAccount'> },
): void {
  if (rules.manager && !rights.isManager) {
    throw new AccessDeniedError('Access denied: only managers of accounts and administrators may do this');
  }
  const account = findParameter(event, 'account') ?? '';
  if (rules.account && providers.findAccount(account) && !rights.mayUseAccount(account, rules.account)) {
    throw denyAccount(account, rules.account);
  }
  const application = findParameter(event, 'application') ?? '';
  if (rules.application && !rights.mayUseApplication(application, rules.application)) {
    throw denyApplication(application, rules.application);
  }
}
