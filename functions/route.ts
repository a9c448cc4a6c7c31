/**
 * What a route asks of its caller before it does or shows anything. The runtime enforces it: see
 * `shared/access/http/access-gate.ts`, and docs/authorization.md for what each right is.
 */
export interface AccessRules {
  /** The right to the `{account}` of the path that the caller must have. An account that is not configured is the function's 404. */
  readonly account?: 'READ' | 'WRITE';
  /** The right to the `{application}` of the path that the caller must have. */
  readonly application?: 'READ' | 'EXECUTE';
  /** The caller must be allowed to read the application of what is answered: `moniker.app`. */
  readonly resultApplication?: true;
  /** The answer holds only what is in accounts, or of applications, that the caller may read. */
  readonly filter?: readonly ('accounts' | 'applications')[];
  /** Each operation of the body must name an account that the caller may write to; the others are violations, 400. */
  readonly operations?: true;
  /** The right that the caller must have to every account of the task `{id}`, or `{opId}`. */
  readonly task?: 'READ' | 'WRITE';
  /** The right that the caller must have to every account of the sessions of the agent `{agentId}`. */
  readonly agent?: 'WRITE';
  /** Only who may manage accounts. */
  readonly manager?: true;
  /** Who does not say who he is may call it, too: Gate and Fiat poll it for everybody. */
  readonly anonymous?: true;
}

/** What a route asks: nothing at all, that its caller can be told from others, or rights. */
export type Access = 'anonymous' | 'identified' | AccessRules;

/** What a function may do with what all functions share. CDK turns each into the least grants: `infra/aws/constructs/grants.ts`. */
export type Use =
  | 'readAccountFacts'
  | 'readAccounts'
  | 'readStoredAccounts'
  | 'writeAccounts'
  | 'readSecretRoles'
  | 'readArtifactAccounts'
  | 'readArtifactStore'
  | 'readTasks'
  | 'writeTasks'
  | 'sendOperations'
  | 'publishEvents'
  | 'readCache'
  | 'writeCache'
  | 'requestComparisons'
  | 'wakeAgents'
  | 'sendAgents'
  | 'sendStreams'
  | 'askAgents'
  | 'findSessions'
  | 'findAgents'
  | 'forgetSessions'
  | 'keepSessions'
  | 'endSessions'
  | 'keepConnections'
  | 'answerReads'
  | 'offerWork'
  | 'sendHints'
  | 'tellAgents'
  | 'signSessions'
  | 'publishAccountFacts';

/** One route of the API: the row from which CDK, the local runtime, the OpenAPI document and the tests are made. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** API Gateway path: `{name}` is one segment. Siblings share one variable name. */
  readonly path: string;
  /** Who calls it: Spinnaker's services and people, agents, or operators of these. Default: the first. */
  readonly api?: 'clouddriver' | 'agent' | 'operator';
  /** The function's module below `functions/`, without extension. */
  readonly module: string;
  /**
   * What the function talks to besides its own stores: `store` nothing, `cluster` Kubernetes API servers (it runs in the
   * VPC and may be larger), `internet` artifact sources.
   */
  readonly reaches: 'store' | 'cluster' | 'internet';
  /** Lambda's time-out in seconds. Reads end below 20. */
  readonly timeoutSeconds: number;
  /** What it asks of its caller. */
  readonly access: Access;
  /** Of agents: whether requests are signed by AWS Signature Version 4, which API Gateway looks at. Default false. */
  readonly signed?: boolean;
  /** What the audit calls it, where each call is recorded. Refusals are recorded whatever they are of. */
  readonly audit?:
    | 'readSecret'
    | 'readConsole'
    | 'deleteJob'
    | 'startOperations'
    | 'changeTask'
    | 'changeAccount'
    | 'changeAgent';
  /** What the function does with what all functions share: its role is granted exactly this. Default: nothing. */
  readonly uses?: readonly Use[];
  /** Lambda's memory in MB, from which its share of a processor follows. Default 1024. */
  readonly memoryMb?: number;
}
