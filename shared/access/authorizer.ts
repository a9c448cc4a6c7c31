import type { Authorization } from '#accounts/model/account.ts';

/** What a user may do, by Fiat. Names of accounts and applications are in lower case: Fiat ignores case. */
export interface UserPermission {
  /** The user. */
  readonly user: string;
  /** May do everything. */
  readonly isAdmin: boolean;
  /** May create and change accounts. */
  readonly isAccountManager: boolean;
  /** Roles in lower case. */
  readonly roles: ReadonlySet<string>;
  /** Authorizations by account. A missing account may not be used. */
  readonly accounts: ReadonlyMap<string, ReadonlySet<Authorization>>;
  /** Authorizations by application. */
  readonly applications: ReadonlyMap<string, ReadonlySet<Authorization>>;
  /** Whether missing applications may be used. */
  readonly allowAccessToUnknownApplications: boolean;
}

/** Knows what users may do. At most one provider plug-in has it, as its capability `authorizer`. */
export interface Authorizer {
  /**
   * What a user may do. An unknown user may do nothing.
   *
   * @param user undefined for a request without `X-SPINNAKER-USER`: then it is Spinnaker's user `anonymous`.
   * @throws UnavailableError when that cannot be found out: the user may do nothing then.
   */
  getPermission(user: string | undefined, signal: AbortSignal): Promise<UserPermission>;
}
