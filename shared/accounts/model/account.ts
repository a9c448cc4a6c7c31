import type { JsonObject } from '#core/json.ts';

/** What a permission allows, in Fiat's words. */
export type Authorization = 'READ' | 'WRITE' | 'EXECUTE' | 'CREATE';

/** For each authorization, the groups that hold it: trimmed, lower case. */
export type Permissions = { readonly [key in Authorization]?: readonly string[] };

/** Where the public keys are that tokens of agents are verified with: keys as RFC 7517 writes them, or where they are fetched. */
export type AgentKeySource =
  | { readonly url: URL; readonly keys?: undefined }
  | { readonly url?: undefined; readonly keys: readonly JsonObject[] };

/** By a token of the cluster. */
export interface ServiceAccountAuth {
  readonly type: 'serviceAccount';
  /** What `iss` of an agent's token must be. */
  readonly issuer: string;
  /** What `sub` must be: `system:serviceaccount:<namespace>:<name>`. */
  readonly subject: string;
  readonly keys: AgentKeySource;
}

/** By the certificate of its connection. */
export interface CertificateAuth {
  readonly type: 'certificate';
  /** Distinguished names, as RFC 2253 writes them, of which the certificate must have one. */
  readonly subjects: readonly string[];
}

/** By a signature of AWS that API Gateway has checked. */
export interface IamAuth {
  readonly type: 'iam';
  /** ARNs of roles, one of which must have signed. */
  readonly roleArns: readonly string[];
}

/** By what the agents of an account prove who they are. It holds no secret. */
export type AgentAuth = ServiceAccountAuth | CertificateAuth | IamAuth;

/** How an account is served that only an agent in its cluster reaches. */
export interface AgentAccess {
  readonly auth: AgentAuth;
  /** Seconds for which an accepted operation waits for an agent; undefined for what holds for all. */
  readonly waitSeconds: number | undefined;
  /** Replicas of the agent that are to be connected. */
  readonly minReplicas: number;
}

/** What every provider's account has, as `GET /credentials` shows it. */
export interface Account {
  /** Unique over all providers. */
  readonly name: string;
  /** Provider id, for example `kubernetes`. */
  readonly cloudProvider: string;
  /** Defaults to the name. */
  readonly environment: string;
  /** Defaults to the name. */
  readonly accountType: string;
  /** Who may use it; undefined for an open account. Never empty. */
  readonly permissions?: Permissions;
  /** Legacy groups where they alone were configured: the permissions are made of them. Else empty. */
  readonly requiredGroupMembership: readonly string[];
  /** How its agents are known, where it is reached by them alone. */
  readonly agentHome?: AgentAccess | undefined;
  /** The fields that only this provider's accounts have, for the expanded view. Never holds a secret. */
  readonly details: JsonObject;
}

/** An account of the configuration that cannot be used, and why. It never stops the others. */
export interface RejectedAccount {
  readonly name: string;
  readonly reason: string;
  /** True for a section whose accounts this release cannot serve: there is nothing to mend in them. */
  readonly isUnserved?: boolean;
}

/** A setting that may not be as it was meant. It keeps no account from being used. */
export interface AccountWarning {
  /** What the log calls it; docs/operate.md tells of each. */
  readonly message: string;
  /** Name of the account that it is about, or where that stands if it has none; undefined where the reason tells. */
  readonly account?: string;
  /** Begins with the path of the setting, or with the account. */
  readonly reason: string;
}
