import type { AccessRules, Route } from '#functions/routes.ts';
import type { Services } from '#platform/services/services.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';
import {
  type CallerRights,
  denyAccount,
  denyApplication,
  findDeniedAccount,
  getApplicationOf,
  type TaskOwners,
} from '../authorization.ts';
import type { Identity } from '../identity/identity.ts';
import type { RouteFinder } from './access-table.ts';

/** An admitted request and its caller. */
export interface RequestAccess {
  /** The row of the route. */
  readonly route: Pick<Route, 'method' | 'path' | 'audit'>;
  /** The rules of the row; empty where it asks no rights. */
  readonly rules: AccessRules;
  /** The caller, where the row asks for one. */
  readonly identity: Identity;
  /** The caller's rights to the current accounts. */
  readonly rights: CallerRights;
  /**
   * The same for a row that asks no rights, or an anonymous caller whose rights were not asked for, once the function needs them: it asks
   * for them now.
   *
   * @throws UnavailableError when they cannot be found out.
   */
  loadRights(): Promise<CallerRights>;
  /** The same, to the accounts of these providers. */
  getRights(providers: Pick<ProviderSet, 'findAccount'>): CallerRights;
  /** @throws AccessDeniedError unless the caller has the right to the task that the row asks. */
  checkTask(task: TaskOwners): void;
  /** Whether the caller may read the task: lists hold only those. @throws Error for a route whose row has no filter of accounts */
  mayReadTask(task: TaskOwners): boolean;
  /**
   * The row's filter of accounts: whether the answer may name one. Every route that names accounts without `{account}` in its path uses it,
   * or `mayReadTask`.
   *
   * @param authorization the right that the caller must have to the account. Default: READ
   * @throws Error for a row without a filter; UnavailableError when an anonymous caller's rights cannot be found out
   */
  openAccountFilter(authorization?: 'READ' | 'WRITE'): Promise<(account: string) => boolean>;
  /** @throws AccessDeniedError where the row asks for it and the caller may not read the application of the answer. */
  checkResult(value: unknown): void;
}

/** What the gate uses: accounts, the source of rights, and the settings that say how callers are identified. */
export type GateServices = Pick<ProviderServices, 'config' | 'providers' | 'settings' | 'clock' | 'log'>;

/** How to admit a caller. */
export interface AdmitOptions {
  /** All services of the installation. */
  readonly all: Services;
  /** What the function has opened of them; any accounts among it are used. */
  readonly services: object;
  readonly signal: AbortSignal;
  /** Finds the row of the request's route. Default: it is one of Spinnaker's API. */
  readonly getRoute?: RouteFinder | undefined;
  /** Called with what the gate uses, if it or the function has opened that. */
  onOpened?(services: GateServices): void;
  /** Called when the caller is known, which may be before they are refused. */
  onIdentified?(identity: Identity): void;
}

/** Finds configured accounts. */
type Accounts = Pick<ProviderSet, 'findAccount'>;

/** Where rights come from. */
export interface RightsSource {
  /** The current accounts. Default: none are known. */
  readonly providers?: Accounts;
  getRights(providers: Accounts): CallerRights;
  /** Loads the rights when they are needed. Default: those of `getRights`. */
  loadRights?(): Promise<CallerRights>;
}

/** The caller where none is asked for. */
export const nobody: Identity = { user: undefined, allowedAccounts: undefined, kind: 'header' };

/** The access of an admitted request. */
export function createAccess(
  { route, identity, rules }: Pick<RequestAccess, 'route' | 'identity' | 'rules'>,
  { providers = { findAccount: () => undefined }, getRights, loadRights }: RightsSource,
): RequestAccess {
  const rights = getRights(providers);
  const isKnown = (account: string): boolean => providers.findAccount(account) !== undefined;
  const findDenied = (task: TaskOwners, authorization: 'READ' | 'WRITE') =>
    findDeniedAccount(task, rights, { authorization, isKnown });
  const load = loadRights ?? (async () => rights);
  const checkFiltered = (): void => {
    // The account of the path has been checked.
    if (rules.filter?.includes('accounts') || rules.account !== undefined) return;
    throw new Error(`the row of ${route.method} ${route.path} does not say that accounts are filtered`);
  };
  return {
    route,
    identity,
    rules,
    rights,
    getRights,
    loadRights: load,
    checkTask(task) {
      if (rules.task === undefined) return;
      const denied = findDenied(task, rules.task);
      if (denied !== undefined) throw denyAccount(denied, rules.task);
    },
    mayReadTask(task) {
      checkFiltered();
      return findDenied(task, 'READ') === undefined;
    },
    async openAccountFilter(authorization = 'READ') {
      checkFiltered();
      const held = await load();
      return (account) => held.mayUseAccount(account, authorization);
    },
    checkResult(value) {
      if (!rules.resultApplication) return;
      const application = getApplicationOf(value);
      if (!rights.mayUseApplication(application, 'READ')) throw denyApplication(application, 'READ');
    },
  };
}
