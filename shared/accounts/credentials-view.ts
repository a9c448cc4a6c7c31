import type { AccountView } from '#contract/answers/credentials.ts';
import { type JsonObject, type JsonValue, omitNullMembers } from '#core/json.ts';
import { getSetting } from '#settings/spring-config.ts';
import type { Account } from './model/account.ts';

/** What two flags of an account's view depend on, from `credentials` in the configuration. */
export interface CredentialsSettings {
  /** Account types shown as primary. */
  readonly primaryAccountTypes: readonly string[];
  /** Environments in which Deck asks before it destroys something. */
  readonly challengeDestructiveActionsEnvironments: readonly string[];
}

/** How `toCredentialsView` shows an account. */
export interface CredentialsViewOptions extends CredentialsSettings {
  /** Whether to add the fields that only its provider's accounts have. */
  readonly expand: boolean;
}

/** An account in an answer: when expanded, it has its provider's own members. */
export type CredentialsView = AccountView & { readonly [detail: string]: unknown };

/** Reads `credentials` of the merged configuration. Both lists default to just `default`, as in Clouddriver. */
export function parseCredentialsSettings(settings: JsonObject): CredentialsSettings {
  return {
    primaryAccountTypes: readNames(getSetting(settings, 'credentials.primaryAccountTypes')),
    challengeDestructiveActionsEnvironments: readNames(
      getSetting(settings, 'credentials.challengeDestructiveActionsEnvironments'),
    ),
  };
}

/**
 * An account as `GET /credentials` shows it. Null details are left out, and so are the permissions of an open account. Only the fields
 * named here and the account's `details` are shown: nothing about how to connect to it.
 */
export function toCredentialsView(account: Account, options: CredentialsViewOptions): CredentialsView {
  // Only the account itself says who may use it.
  const { accountId, permissions: _, ...details } = omitNullMembers(account.details);
  const { permissions } = account;
  return {
    ...(options.expand && details),
    name: account.name,
    environment: account.environment,
    accountType: account.accountType,
    cloudProvider: account.cloudProvider,
    type: account.cloudProvider,
    requiredGroupMembership: account.requiredGroupMembership,
    ...(permissions !== undefined && { permissions }),
    ...(typeof accountId === 'string' && { accountId }),
    challengeDestructiveActions: options.challengeDestructiveActionsEnvironments.includes(
      account.environment,
    ),
    primaryAccount: options.primaryAccountTypes.includes(account.accountType),
  };
}

/** Names from a list or a comma-separated string. */
function readNames(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) return ['default'];
  const items = Array.isArray(value) ? value : String(value).split(',');
  return items.map((item) => String(item).trim()).filter((item) => item !== '');
}
