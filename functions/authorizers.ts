/** One function that decides who may call the API: the row from which CDK makes it, where the operator asks for it. */
export interface Authorizer {
  readonly name: string;
  /** The function's module below `functions/`, without extension. */
  readonly module: string;
  /** Lambda's time-out in seconds. */
  readonly timeoutSeconds: number;
  /** Seconds for which API Gateway remembers what it decided about a header's value. */
  readonly lifetimeSeconds: number;
}

/** Lets in who sends the secret that the operator and Spinnaker share. */
export const sharedSecretAuthorizer: Authorizer = {
  name: 'shared-secret',
  module: 'authorizers/check-shared-secret',
  timeoutSeconds: 10,
  lifetimeSeconds: 60,
};

/** Lets in agents that show a token of a session, where they connect for hints. API Gateway remembers nothing there. */
export const agentSessionAuthorizer: Authorizer = {
  name: 'agent-session',
  module: 'authorizers/check-agent-session',
  timeoutSeconds: 10,
  lifetimeSeconds: 0,
};

/** Every authorizer. */
export const authorizers: readonly Authorizer[] = [sharedSecretAuthorizer, agentSessionAuthorizer];
