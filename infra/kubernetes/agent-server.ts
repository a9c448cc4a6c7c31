import { hintPath } from '#agents/agent-connections.ts';
import { checkSessionKeyFile } from '#agents/identity/session-key-file.ts';
import { type AwaitedAnswers, openAwaitedAnswers } from '#agents/services/awaited-answers.ts';
import { bindHintPort } from '#agents/sessions/hint-port.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { agentRoutes } from '#functions/agent-routes.ts';
import type { Route } from '#functions/routes.ts';
import type { UpgradeRoute } from '#infra/server/front-door/http-upgrade.ts';
import { HintConnections } from '#infra/server/hints/hint-connections.ts';
import { createHintRoute } from '#infra/server/hints/hint-route.ts';
import type { HoldOptions } from '#infra/server/hints/hold-connection.ts';
import { type Environment, variables } from '#platform/config.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import { agentsEnabledPath, parseAgentSettings } from '#settings/agent-settings.ts';
import { ConnectionRows } from './connection-rows.ts';
import { Forwarding, type ForwardingOptions } from './forwarding.ts';

/** What agents are served with. */
export interface AgentServerOptions extends Omit<ForwardingOptions, 'connections' | 'clock'> {
  readonly services: Services;
  readonly log: Logger;
}

/** What serves agents in a replica. Disposing waits until others know that none is connected to it any more. */
export interface AgentServer extends AsyncDisposable {
  readonly routes: readonly Route[];
  /** Where they connect for hints. */
  readonly upgrades: UpgradeRoute;
  /** Those that are connected to this replica. */
  readonly connections: HintConnections;
  /** The callers here that wait for their answers. */
  readonly awaited: AwaitedAnswers;
  readonly forwarding: Forwarding;
  /** How connections are held, whatever they are made of. */
  readonly holding: HoldOptions;
}

/** Binds what notifies agents of work: those of this replica by their connections, those of others by their replica. */
export function openAgentServer({ services, log, ...options }: AgentServerOptions): AgentServer {
  const connections = new HintConnections();
  const { podName } = options;
  const forwarding = new Forwarding({ ...options, log, connections, clock: systemClock });
  bindHintPort(services, {
    url: hintPath,
    deliver: (hint) => connections.deliver(hint),
    post: (connection, hint) => forwarding.post(connection, hint),
  });
  const awaited = openAwaitedAnswers(services);
  awaited.port = {
    name: podName,
    tell: (waiter, end) => void forwarding.tellResult(waiter, end),
  };
  const rows = new ConnectionRows({ services, podName, clock: systemClock });
  const holding: HoldOptions = { connections, log, onConnected: (connection) => rows.add(connection) };
  return {
    routes: agentRoutes,
    upgrades: createHintRoute({ ...holding, services }),
    ...{ connections, awaited, forwarding, holding },
    [Symbol.asyncDispose]: () => rows[Symbol.asyncDispose](),
  };
}

/**
 * Looks at the key that signs sessions of agents, where they are served: all replicas have the same, so none makes one.
 *
 * @throws Error that names the option or the variable, and what was expected; InvalidInputError for settings that are wrong
 */
export async function checkSessionKey(
  settings: JsonObject,
  environment: Environment,
  sessionKeyFile: string | undefined,
): Promise<void> {
  if (!parseAgentSettings(settings).enabled || environment[variables.agentKeyArn]) return;
  const option = sessionKeyFile === undefined ? variables.agentKeyFile : '--session-key-file';
  const file = sessionKeyFile ?? environment[variables.agentKeyFile];
  if (file) return checkSessionKeyFile(file, option);
  throw new InvalidInputError(
    `${agentsEnabledPath} is true: expected --session-key-file, the key that signs sessions of agents`,
  );
}
