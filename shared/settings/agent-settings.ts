import * as z from 'zod';
import type { JsonObject } from '#core/json.ts';
import { isReleaseVersion } from '#core/release-version.ts';
import {
  booleanField,
  intField,
  nameListField,
  objectField,
  parseWith,
  requireField,
  stringField,
  withDefault,
} from './coerce.ts';
import { getSetting } from './spring-config.ts';

/** The setting that says whether agents are served. */
export const agentsEnabledPath = 'busdriver.agents.enabled';

/** The setting with the hosts from which the keys of agents' tokens may be fetched. */
export const jwksHostsPath = 'busdriver.agents.jwksHosts';

/** The setting that says which releases of agents run operations. */
export const minimumVersionPath = 'busdriver.agents.minimumVersion';

/** The setting that would say which accounts agents may create themselves. */
const registrationPath = 'busdriver.agents.selfRegistration.patterns';

/** Seconds for which an accepted operation waits for an agent, unless its account or the settings give another number. */
export const agentWaitSecondsDefault = 120;

/** Bounds of that, seconds: a day at most. */
export const agentWaitSeconds = { min: 1, max: 86_400 };

/** What holds for all agents. */
export interface AgentSettings {
  /** Whether agents are served at all, and may have accounts. */
  readonly enabled: boolean;
  /** Seconds for which an accepted operation waits for an agent. */
  readonly waitSeconds: number;
  /** Hosts, with their port where it is not 443, from which keys may be fetched. */
  readonly jwksHosts: readonly string[];
  /** Milliseconds between two requests of an agent that runs nothing, and of one that runs something. */
  readonly pollIdleMs: number;
  readonly pollBusyMs: number;
  /** The same for one with an open connection for hints. */
  readonly pollConnectedMs: number;
  /** Milliseconds between two agents that come back after Busdriver was unavailable. */
  readonly returnIntervalMs: number;
  /** Agents of older releases run no operations and no live reads; undefined where all do. */
  readonly minimumVersion: string | undefined;
}

const pollMs = { min: 50, max: 60_000 };
const returnIntervalMs = { min: 1, max: 10_000 };

const fields = {
  [agentsEnabledPath]: withDefault(booleanField(), false),
  'busdriver.agents.waitSeconds': withDefault(intField(agentWaitSeconds), agentWaitSecondsDefault),
  [jwksHostsPath]: withDefault(nameListField(), []),
  [minimumVersionPath]: stringField().pipe(
    z.string().refine(isReleaseVersion, { error: 'expected a release such as 1.2.0' }).optional(),
  ),
  // No agent can create an account. This setting is refused, or its author would wait for accounts.
  [registrationPath]: nameListField().refine((patterns = []) => patterns.length === 0, {
    error:
      'expected [], for agents make no accounts: busdriver agent enroll stores one, and so do the settings and PUT /credentials',
  }),
  'busdriver.agents.limits.pollIdleMs': withDefault(intField(pollMs), 2_000),
  'busdriver.agents.limits.pollBusyMs': withDefault(intField(pollMs), 500),
  'busdriver.agents.limits.pollConnectedMs': withDefault(intField(pollMs), 15_000),
  'busdriver.agents.limits.returnIntervalMs': withDefault(intField(returnIntervalMs), 85),
};

/** Made once: each request of an agent reads the settings. */
const schema = requireField(objectField(fields));

/** Paths of the settings about agents. */
export const agentSettingPaths: readonly string[] = Object.keys(fields);

/** Reads the settings for all agents. @throws InvalidInputError naming each wrong setting by its path */
export function parseAgentSettings(settings: JsonObject): AgentSettings {
  const input = Object.fromEntries(agentSettingPaths.map((path) => [path, getSetting(settings, path)]));
  const values = parseWith(schema, input, '');
  return {
    enabled: values[agentsEnabledPath],
    waitSeconds: values['busdriver.agents.waitSeconds'],
    jwksHosts: values[jwksHostsPath],
    pollIdleMs: values['busdriver.agents.limits.pollIdleMs'],
    pollBusyMs: values['busdriver.agents.limits.pollBusyMs'],
    pollConnectedMs: values['busdriver.agents.limits.pollConnectedMs'],
    returnIntervalMs: values['busdriver.agents.limits.returnIntervalMs'],
    minimumVersion: values[minimumVersionPath],
  };
}
