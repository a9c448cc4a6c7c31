import { type AuditedAct, auditListMax } from '#access/audit.ts';
import { asJsonArray, asJsonObject, asString, type JsonValue } from '#core/json.ts';

/** What an operation says of its owner, as its caller wrote it: nothing of it was checked. */
export interface OperationClaim {
  readonly name: string;
  /** Its `account`, else its `credentials`; undefined where it has neither. */
  readonly account: string | undefined;
  /** Its `cloudProvider`. */
  readonly cloudProvider: string | undefined;
}

/**
 * What the operations of a body claim: `[{"deployManifest": {"account": "prod"}}]`. Items of other shapes are left out.
 *
 * @param itemsMax items of the body that are looked at. Default: all
 */
export function listClaims(body: JsonValue, itemsMax = Number.POSITIVE_INFINITY): readonly OperationClaim[] {
  const entries = asJsonArray(body)
    .slice(0, itemsMax)
    .flatMap((item) => Object.entries(asJsonObject(item) ?? {}).slice(0, 1));
  return entries.map(([name, description]) => {
    const { account, credentials, cloudProvider } = asJsonObject(description) ?? {};
    return {
      name,
      account: asString(account) || asString(credentials) || undefined,
      cloudProvider: asString(cloudProvider),
    };
  });
}

/** The claims of a body for the audit. */
export function toClaimedAct(body: JsonValue): Pick<AuditedAct, 'account' | 'accounts' | 'operations'> {
  const claims = listClaims(body, auditListMax);
  const accounts = [...new Set(claims.map(({ account }) => account))].filter((name) => name !== undefined);
  return { ...toOwners(accounts), operations: [...new Set(claims.map(({ name }) => name))] };
}

/** Accounts as the audit records them. */
export function toOwners(accounts: readonly string[]): Pick<AuditedAct, 'account' | 'accounts'> {
  const [account] = accounts;
  if (account === undefined) return {};
  return { account, ...(accounts.length > 1 && { accounts }) };
}
