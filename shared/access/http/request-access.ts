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

/** What the gate let through, and as what. */
export interface RequestAccess {
  /** The row of the route. */
  readonly route: Pick<Route, 'method' | 'path' | 'audit'>;
  /** What the row asks; empty where it asks no rights. */
  readonly rules: AccessRules;
  /** Who calls, where the row asks. */
  readonly identity: Identity;
  /** The rights of the caller to the accounts of now. */
  readonly rights: CallerRights;
  /**
   * The same where the row asks no rights, or where nobody asked after a caller without a name, and the function turns out to need some: they
   * are asked for now.
   *
   * @throws UnavailableError when nobody can tell them.
   */
  loadRights(): Promise<CallerRights>;
  /** The same, to the accounts of these providers. */
  getRights(providers: Pick<ProviderSet, 'findAccount'>): CallerRights;
  /** @throws AccessDeniedError unless the caller has the right to the task that the row asks. */
  checkTask(task: TaskOwners): void;
  /** Whether the caller may read the task: a list holds only those. @throws Error for a route whose row says of no filter of accounts */
  mayReadTask(task: TaskOwners): boolean;
  /**
   * The filter of accounts that the row says of: whether the answer may name one. Every route without `{account}` in its path goes through
   * it, or through `mayReadTask`, that names accounts.
   *
   * @param authorization the right that the caller must have to it. Default: READ
   * @throws Error for a row that says of none; UnavailableError when nobody can tell the rights of a caller without a name
   */
  openAccountFilter(authorization?: 'READ' | 'WRITE'): Promise<(account: string) => boolean>;
  /** @throws AccessDeniedError where the row asks it and the caller may not read the application of what is answered. */
  checkResult(value: unknown): void;
}

/** What the gate looks at: accounts, what tells rights, and the settings that say how callers are known. */
export type GateServices = Pick<ProviderServices, 'config' | 'providers' | 'settings' | 'clock' | 'log'>;

/** How a caller is let in. */
export interface AdmitOptions {
  /** All services of the installation. */
  readonly all: Services;
  /** What the function has opened of them; accounts among it are those that count. */
  readonly services: object;
  readonly signal: AbortSignal;
  /** Finds the row of the request's route. Default: it is one of Spinnaker's API. */
  readonly getRoute?: RouteFinder | undefined;
  /** Called with what the gate looks at, if it or the function has opened that. */
  onOpened?(services: GateServices): void;
  /** Called when it is known who calls, which may be before he is refused. */
  onIdentified?(identity: Identity): void;
}

/** Finds configured accounts. */
type Accounts = Pick<ProviderSet, 'findAccount'>;

/** Where rights come from. */
export interface RightsSource {
  /** The accounts of now. Default: none are known. */
  readonly providers?: Accounts;
  getRights(providers: Accounts): CallerRights;
  /** Where they are asked for when they are needed. Default: they are those of `getRights`. */
  loadRights?(): Promise<CallerRights>;
}

/** Who calls where nobody asks. */
export const nobody: Identity = { user: undefined, allowedAccounts: undefined, kind: 'header' };

/** What a request is let through as. */
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
    // The account of a path was looked at.
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
