import type { Authorization } from '#accounts/model/account.ts';

/** What a user may do, as Fiat answers it. Names of accounts and applications are in lower case: Fiat compares them without case. */
export interface UserPermission {
  /** The user whom it is about. */
  readonly user: string;
  /** May do everything. */
  readonly isAdmin: boolean;
  /** May create and change accounts. */
  readonly isAccountManager: boolean;
  /** Roles in lower case. */
  readonly roles: ReadonlySet<string>;
  /** Authorizations by account. An account that is missing may not be used. */
  readonly accounts: ReadonlyMap<string, ReadonlySet<Authorization>>;
  /** Authorizations by application. */
  readonly applications: ReadonlyMap<string, ReadonlySet<Authorization>>;
  /** Whether applications that are missing may be used. */
  readonly allowAccessToUnknownApplications: boolean;
}

/** Tells what users may do. A provider plug-in has it as its capability `authorizer`; at most one does. */
export interface Authorizer {
  /**
   * What a user may do. A user whom nobody knows may do nothing.
   *
   * @param user undefined for a request without `X-SPINNAKER-USER`: then it is Spinnaker's user `anonymous`.
   * @throws UnavailableError when that cannot be found out: nobody may do anything then.
   */
  getPermission(user: string | undefined, signal: AbortSignal): Promise<UserPermission>;
}
