import type { JsonObject } from '#core/json.ts';

/** What a permission allows, in Fiat's terms. */
export type Authorization = 'READ' | 'WRITE' | 'EXECUTE' | 'CREATE';

/** For each authorization, the groups that hold it: trimmed, lower case. */
export type Permissions = { readonly [key in Authorization]?: readonly string[] };

/** The public keys that verify agents' tokens: keys in RFC 7517's form, or where to fetch them. */
export type AgentKeySource =
  | { readonly url: URL; readonly keys?: undefined }
  | { readonly url?: undefined; readonly keys: readonly JsonObject[] };

/** By a token of the cluster. */
export interface ServiceAccountAuth {
  readonly type: 'serviceAccount';
  /** The required `iss` of an agent's token. */
  readonly issuer: string;
  /** The required `sub`: `system:serviceaccount:<namespace>:<name>`. */
  readonly subject: string;
  readonly keys: AgentKeySource;
}

/** By the certificate of its connection. */
export interface CertificateAuth {
  readonly type: 'certificate';
  /** Distinguished names in RFC 2253's form, one of which the certificate must have. */
  readonly subjects: readonly string[];
}

/** By an AWS signature that API Gateway has checked. */
export interface IamAuth {
  readonly type: 'iam';
  /** ARNs of roles, one of which must have signed. */
  readonly roleArns: readonly string[];
}

/** How the agents of an account prove their identity. It holds no secret. */
export type AgentAuth = ServiceAccountAuth | CertificateAuth | IamAuth;

/** How an account is served that only an agent in its cluster reaches. */
export interface AgentAccess {
  readonly auth: AgentAuth;
  /** Seconds for which an accepted operation waits for an agent; undefined for the general setting. */
  readonly waitSeconds: number | undefined;
  /** Replicas of the agent that should be connected. */
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
  /** Legacy groups where only these were configured: the permissions derive from them. Else empty. */
  readonly requiredGroupMembership: readonly string[];
  /** How its agents are identified, where only they reach it. */
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

/** A setting that may not be as intended. The account can still be used. */
export interface AccountWarning {
  /** Its message in the log; docs/operate.md explains each. */
  readonly message: string;
  /** Name of the account that it is about, or its place if it has no name; undefined where the reason says it. */
  readonly account?: string;
  /** Begins with the path of the setting, or with the account. */
  readonly reason: string;
}
