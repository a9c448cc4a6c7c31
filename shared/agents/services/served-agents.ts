import { NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { type AgentSettings, agentsEnabledPath, parseAgentSettings } from '#settings/agent-settings.ts';

/** The settings of agents. @throws NotFoundError where agents are not served */
export function getServedAgents(settings: JsonObject): AgentSettings {
  const agentSettings = parseAgentSettings(settings);
  if (agentSettings.enabled) return agentSettings;
  throw new NotFoundError(`Agents are not served here: ${agentsEnabledPath} is not true`);
}
