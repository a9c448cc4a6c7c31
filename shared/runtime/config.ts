import { agentIntervalSeconds, isAgentInterval } from '../core/agents/agent-interval.ts';
import { defaultAgentIntervalMs } from '../core/agents/agent-schedule.ts';
import { ConfigurationError } from '../core/errors.ts';

/**
 * What a function needs to know of its surroundings. CDK and the local runtime set the variables; AWS endpoints,
 * region and credentials are the AWS SDK's own variables (`AWS_ENDPOINT_URL_DYNAMODB`, `AWS_REGION` …).
 */
export interface Config {
  /** DynamoDB table of tasks: `BUSDRIVER_TASKS_TABLE`. */
  readonly tasksTable: string;
  /** DynamoDB table of the cache: `BUSDRIVER_CACHE_TABLE`. */
  readonly cacheTable: string;
  /** SQS queue of operations: `BUSDRIVER_OPERATIONS_QUEUE_URL`. */
  readonly operationsQueueUrl: string;
  /** SQS queue of caching agents: `BUSDRIVER_AGENTS_QUEUE_URL`. */
  readonly agentsQueueUrl: string;
  /** SQS queue of agents that are to be followed: `BUSDRIVER_AGENT_STREAMS_QUEUE_URL`, empty where nobody sends to it. */
  readonly agentStreamsQueueUrl: string;
  /** EventBridge bus: `BUSDRIVER_BUS_NAME`. */
  readonly busName: string;
  /** Spinnaker YAML files or directories, in order of precedence, later wins: `BUSDRIVER_CONFIG_FILES` (JSON array). */
  readonly configFiles: readonly string[];
  /** Spring profiles that are active: `BUSDRIVER_PROFILES`, comma-separated, default `local`. */
  readonly profiles: readonly string[];
  /** Secret of Secrets Manager that holds Spinnaker YAML, when deployed: `BUSDRIVER_CONFIG_SECRET_ARN`. */
  readonly configSecretArn: string | undefined;
  /** Secret of Secrets Manager that holds the artifact accounts, when deployed: `BUSDRIVER_ARTIFACTS_SECRET_ARN`. */
  readonly artifactsSecretArn: string | undefined;
  /** Secret that callers share with the function that lets them in: `BUSDRIVER_AUTHORIZER_SECRET_ARN`. */
  readonly authorizerSecretArn: string | undefined;
  /** A kubeconfig whose contexts are the accounts when no configuration names any: `BUSDRIVER_KUBECONFIG`. */
  readonly kubeconfig: string | undefined;
  /**
   * What callers of the local engines sign with: `BUSDRIVER_ENGINE_ACCESS_KEY_ID` and `BUSDRIVER_ENGINE_SECRET_ACCESS_KEY`, needed
   * where the placement is `local`. AWS' own variables are the user's: a kubeconfig whose user is `aws eks get-token` needs them.
   */
  readonly engineCredentials: EngineCredentials | undefined;
  /** `local` when functions run on one machine, `deployed` in AWS: `BUSDRIVER_PLACEMENT`, default `deployed`. */
  readonly placement: 'local' | 'deployed';
  /**
   * Milliseconds between two runs of a caching agent whose account and settings name none: `BUSDRIVER_AGENT_INTERVAL_SECONDS`, 10 to
   * 3600, default 30.
   */
  readonly agentIntervalMs: number;
  /** Least level that is logged: `BUSDRIVER_LOG_LEVEL`, one of DEBUG INFO WARN ERROR SILENT, default INFO. */
  readonly logLevel: LogLevel;
}

/** What callers of the local engines sign with. */
export interface EngineCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Levels of the log, most talkative first. */
export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'SILENT';

/** Names of the variables that `readConfig` reads, for whoever sets them. */
export const variables = {
  tasksTable: 'BUSDRIVER_TASKS_TABLE',
  cacheTable: 'BUSDRIVER_CACHE_TABLE',
  operationsQueueUrl: 'BUSDRIVER_OPERATIONS_QUEUE_URL',
  agentsQueueUrl: 'BUSDRIVER_AGENTS_QUEUE_URL',
  agentStreamsQueueUrl: 'BUSDRIVER_AGENT_STREAMS_QUEUE_URL',
  busName: 'BUSDRIVER_BUS_NAME',
  configFiles: 'BUSDRIVER_CONFIG_FILES',
  configSecretArn: 'BUSDRIVER_CONFIG_SECRET_ARN',
  artifactsSecretArn: 'BUSDRIVER_ARTIFACTS_SECRET_ARN',
  authorizerSecretArn: 'BUSDRIVER_AUTHORIZER_SECRET_ARN',
  profiles: 'BUSDRIVER_PROFILES',
  kubeconfig: 'BUSDRIVER_KUBECONFIG',
  placement: 'BUSDRIVER_PLACEMENT',
  engineAccessKeyId: 'BUSDRIVER_ENGINE_ACCESS_KEY_ID',
  engineSecretAccessKey: 'BUSDRIVER_ENGINE_SECRET_ACCESS_KEY',
  logLevel: 'BUSDRIVER_LOG_LEVEL',
  agentIntervalSeconds: 'BUSDRIVER_AGENT_INTERVAL_SECONDS',
  responseStreaming: 'BUSDRIVER_RESPONSE_STREAMING',
} as const;

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

const logLevels: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'];

/**
 * Reads the configuration.
 *
 * @throws ConfigurationError naming each variable that is missing or malformed.
 */
export function readConfig(environment: Environment = readEnvironment()): Config {
  const errors: string[] = [];
  const required = (name: string): string => {
    const value = environment[name];
    if (!value) errors.push(`environment variable ${name} must be set`);
    return value ?? '';
  };
  const config: Config = {
    tasksTable: required(variables.tasksTable),
    cacheTable: required(variables.cacheTable),
    operationsQueueUrl: required(variables.operationsQueueUrl),
    agentsQueueUrl: required(variables.agentsQueueUrl),
    agentStreamsQueueUrl: environment[variables.agentStreamsQueueUrl] ?? '',
    busName: required(variables.busName),
    configFiles: parseStringList(environment[variables.configFiles], errors),
    configSecretArn: environment[variables.configSecretArn] || undefined,
    artifactsSecretArn: environment[variables.artifactsSecretArn] || undefined,
    authorizerSecretArn: environment[variables.authorizerSecretArn] || undefined,
    profiles: splitCommas(environment[variables.profiles] ?? 'local'),
    kubeconfig: environment[variables.kubeconfig] || undefined,
    placement: parseChoice(variables.placement, environment, { choices: ['deployed', 'local'], errors }),
    engineCredentials:
      environment[variables.placement] === 'local'
        ? {
            accessKeyId: required(variables.engineAccessKeyId),
            secretAccessKey: required(variables.engineSecretAccessKey),
          }
        : undefined,
    agentIntervalMs: parseIntervalMs(environment[variables.agentIntervalSeconds], errors),
    logLevel: parseChoice(variables.logLevel, environment, { choices: ['INFO', ...logLevels], errors }),
  };
  if (errors.length > 0) throw new ConfigurationError(errors.join('; '));
  return config;
}

/**
 * Whether functions of routes write their answers to a stream: wherever Lambda's runtime offers it, unless
 * `BUSDRIVER_RESPONSE_STREAMING` is `false`.
 */
export function isResponseStreaming(environment: Environment = readEnvironment()): boolean {
  // Libraries for Lambda make such a global where there is none.
  const isOffered = typeof globalThis.awslambda?.streamifyResponse === 'function';
  return isOffered && environment[variables.responseStreaming] !== 'false';
}

/** The process's environment. This file is the only place that reads it. */
export function readEnvironment(): Environment {
  return process.env;
}

/**
 * The environment for what is none of ours: placeholders in settings, and programs that accounts name, such as exec plugins. It
 * is without what opens the local engines.
 */
export function readOuterEnvironment(): Environment {
  const {
    [variables.engineAccessKeyId]: _id,
    [variables.engineSecretAccessKey]: _secret,
    ...others
  } = readEnvironment();
  return others;
}

/** Sets variables for this process and what it starts: how the local runtime stands in for Lambda's configuration. */
export function setEnvironment(values: { readonly [name: string]: string }): void {
  Object.assign(process.env, values);
}

function parseChoice<T extends string>(
  name: string,
  environment: Environment,
  { choices, errors }: { choices: readonly T[]; errors: string[] },
): T {
  const value = environment[name] || choices[0];
  const found = choices.find((choice) => choice === value);
  if (found === undefined) {
    errors.push(
      `environment variable ${name} must be one of ${[...new Set(choices)].join(', ')}, not '${value}'`,
    );
  }
  return found ?? (choices[0] as T);
}

function parseIntervalMs(text: string | undefined, errors: string[]): number {
  if (!text) return defaultAgentIntervalMs;
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (isAgentInterval(seconds)) return seconds * 1000;
  errors.push(
    `environment variable ${variables.agentIntervalSeconds} must be a whole number from ${agentIntervalSeconds.least} to ${agentIntervalSeconds.most}`,
  );
  return defaultAgentIntervalMs;
}

function parseStringList(text: string | undefined, errors: string[]): readonly string[] {
  if (!text) return [];
  const complaint = `environment variable ${variables.configFiles} must be a JSON array of paths`;
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  } catch {
    // Falls through: not JSON is the same complaint as JSON of another shape.
  }
  errors.push(complaint);
  return [];
}

function splitCommas(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
