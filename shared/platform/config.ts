import { cachingAgentIntervalSeconds } from '#caching/scheduling/caching-agent-interval.ts';
import { defaultCachingAgentIntervalMs } from '#caching/scheduling/caching-agent-schedule.ts';
import { ConfigurationError } from '#core/errors.ts';
import { rememberedMib } from '#core/remembered-bytes.ts';

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** A setting that the environment may hold. */
interface Setting<T> {
  readonly variable: string;
  /**
   * Reads it.
   *
   * @param text undefined where the variable is not set
   * @param reject takes what is wrong, in words that follow the variable's name: what is answered then does not matter
   */
  read(text: string | undefined, reject: (problem: string) => void): T;
}

/** Every setting: its variable, what its text becomes and, as the docstring, what it means, which docs/architecture.md shows. */
const settings = {
  /** DynamoDB table of tasks. */
  tasksTable: { variable: 'BUSDRIVER_TASKS_TABLE', read: readRequired },
  /** DynamoDB table of the cache. */
  cacheTable: { variable: 'BUSDRIVER_CACHE_TABLE', read: readRequired },
  /** DynamoDB table of accounts that were made by an API. Needed where somebody reads or writes it. */
  accountsTable: { variable: 'BUSDRIVER_ACCOUNTS_TABLE', read: (text = '') => text },
  /** SQS queue of operations. */
  operationsQueueUrl: { variable: 'BUSDRIVER_OPERATIONS_QUEUE_URL', read: readRequired },
  /** SQS queue of caching agents. */
  agentsQueueUrl: { variable: 'BUSDRIVER_AGENTS_QUEUE_URL', read: readRequired },
  /** SQS queue of agents that are to be followed. Needed where somebody sends to it. */
  agentStreamsQueueUrl: { variable: 'BUSDRIVER_AGENT_STREAMS_QUEUE_URL', read: (text = '') => text },
  /** EventBridge bus. */
  busName: { variable: 'BUSDRIVER_BUS_NAME', read: readRequired },
  /** Spinnaker YAML files or directories, a JSON array in order of precedence, later wins. Default: none. */
  configFiles: { variable: 'BUSDRIVER_CONFIG_FILES', read: readStringList },
  /** Secret of Secrets Manager that holds Spinnaker YAML, when deployed. Default: none. */
  configSecretArn: { variable: 'BUSDRIVER_CONFIG_SECRET_ARN', read: readOptional },
  /** Secret of Secrets Manager that holds the artifact accounts, when deployed. Default: none. */
  artifactsSecretArn: { variable: 'BUSDRIVER_ARTIFACTS_SECRET_ARN', read: readOptional },
  /**
   * Directory of go-clouddriver's files with artifact accounts, on one machine: JSON, an account each. They come behind those of the YAML.
   * Deployed it does nothing. Default: none.
   */
  artifactsConfigDir: { variable: 'ARTIFACTS_CREDENTIALS_CONFIG_DIR', read: readOptional },
  /** Secret that callers share with the function that lets them in. Default: none. */
  authorizerSecretArn: { variable: 'BUSDRIVER_AUTHORIZER_SECRET_ARN', read: readOptional },
  /**
   * File with the key that signs the sessions of agents: on one machine made when missing, in the Kubernetes home the same in all replicas.
   * Default: agents are not served.
   */
  agentKeyFile: { variable: 'BUSDRIVER_AGENT_KEY_FILE', read: readOptional },
  /** Key of KMS that signs them, when deployed. Needed by functions that agents call. */
  agentKeyArn: { variable: 'BUSDRIVER_AGENT_KEY_ARN', read: readOptional },
  /**
   * Audience of the tokens by which agents prove who they are, `busdriver:` and the stage when deployed: without it agents are not served
   * there. Default on one machine `busdriver:local`.
   */
  agentAudience: { variable: 'BUSDRIVER_AGENT_AUDIENCE', read: readOptional },
  /** Where agents hear of work by WebSocket, when deployed: `wss://…/live`. Default: they ask. */
  hintsUrl: { variable: 'BUSDRIVER_HINTS_URL', read: readOptional },
  /** Spring profiles that are active, comma-separated. Default `local`. */
  profiles: { variable: 'BUSDRIVER_PROFILES', read: (text = 'local') => splitCommas(text) },
  /** A kubeconfig whose contexts are the accounts when no configuration names any. Default: none. */
  kubeconfig: { variable: 'BUSDRIVER_KUBECONFIG', read: readOptional },
  /** `local` when functions run on one machine, `deployed` in AWS. Default `deployed`. */
  placement: { variable: 'BUSDRIVER_PLACEMENT', read: makeChoice('deployed', 'local') },
  /**
   * What DynamoDB, SQS and EventBridge are called with where these are no AWS, such as engines of a Kubernetes home. AWS' own variables are the
   * user's: a kubeconfig whose user is `aws eks get-token` needs them. Default: what the AWS SDK finds.
   */
  engineAccessKeyId: { variable: 'BUSDRIVER_ENGINE_ACCESS_KEY_ID', read: readOptional },
  /** The secret that belongs to it. */
  engineSecretAccessKey: { variable: 'BUSDRIVER_ENGINE_SECRET_ACCESS_KEY', read: readOptional },
  /**
   * `true` where other processes work with the same tables and queues, as in the Kubernetes home: one that begins takes nobody for dead. Default:
   * it is the only one.
   */
  isReplicated: { variable: 'BUSDRIVER_REPLICATED', read: (text) => text === 'true' },
  /**
   * `off` where callers on the machine itself may not manage accounts without Fiat: others have its address, too. In replicas and deployed
   * nobody may. Default `on`.
   */
  localManagers: { variable: 'BUSDRIVER_LOCAL_MANAGERS', read: makeChoice('on', 'off') },
  /** Least level that is logged: DEBUG, INFO, WARN, ERROR or SILENT. Default INFO. */
  logLevel: { variable: 'BUSDRIVER_LOG_LEVEL', read: makeChoice('INFO', 'DEBUG', 'WARN', 'ERROR', 'SILENT') },
  /** `true` to log each request, with headers and body and without secrets, on one machine. Deployed it does nothing. Default: off. */
  verboseRequests: {
    variable: 'VERBOSE_REQUEST_LOGGING',
    read: (text) => text?.trim().toLowerCase() === 'true',
  },
  /** Seconds between two runs of a caching agent whose account and settings name none, 10 to 3600. Default 30. */
  agentIntervalSeconds: {
    variable: 'BUSDRIVER_AGENT_INTERVAL_SECONDS',
    read: makeWhole({ ...cachingAgentIntervalSeconds, otherwise: defaultCachingAgentIntervalMs / 1000 }),
  },
  /**
   * MiB that all that a process remembers between requests may take, 1 to 1024: rows of the cache, names in it, answers made of them, and
   * what Fiat told of users. Default 32.
   */
  rememberedMib: { variable: 'BUSDRIVER_REMEMBERED_MIB', read: makeWhole(rememberedMib) },
  /** `false` where the region, or an emulator, has no response streaming. Default: answers are streamed wherever Lambda's runtime offers it. */
  responseStreaming: { variable: 'BUSDRIVER_RESPONSE_STREAMING', read: (text) => text !== 'false' },
} satisfies { readonly [name: string]: Setting<unknown> };

type Settings = { readonly [name in keyof typeof settings]: ReturnType<(typeof settings)[name]['read']> };

/** Names of the variables by their settings, for whoever sets them. */
export const variables = Object.fromEntries(
  Object.entries(settings).map(([name, { variable }]) => [name, variable]),
) as { readonly [name in keyof Settings]: string };

/**
 * What a function needs to know of its environment. CDK and the local runtime set the variables; region, credentials and, when deployed,
 * endpoints are the AWS SDK's own variables (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB` …).
 */
export interface Config
  extends Omit<Settings, 'engineAccessKeyId' | 'engineSecretAccessKey' | 'agentIntervalSeconds'> {
  /** Undefined where the placement is not `local`, and where there are none. */
  readonly engineCredentials: EngineCredentials | undefined;
  /** Where engines are; empty where the placement is not `local`: there the AWS SDK finds its services itself. */
  readonly endpoints: Endpoints;
  /** `cachingAgentIntervalSeconds` in milliseconds. */
  readonly agentIntervalMs: number;
  /** Whether agents can reach this installation. */
  readonly servesAgents: boolean;
}

/** URLs of engines, by the AWS SDK's own variables; what is undefined, the SDK finds itself. */
export type Endpoints = { readonly [service in keyof typeof endpointVariables]?: string | undefined };

/** What callers of engines sign with. */
export interface EngineCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Levels of the log. */
export type LogLevel = Settings['logLevel'];

/** Whether callers on the machine itself may manage accounts without Fiat. */
export type LocalManagers = Settings['localManagers'];

/** Names of the variables by which the AWS SDK, too, is told where a service is. */
export const endpointVariables = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  sqs: 'AWS_ENDPOINT_URL_SQS',
  eventbridge: 'AWS_ENDPOINT_URL_EVENTBRIDGE',
} as const;

/** Reads the configuration. @throws ConfigurationError naming each variable that is missing or malformed. */
export function readConfig(environment: Environment = readEnvironment()): Config {
  const errors: string[] = [];
  const makeReject = (variable: string) => (problem: string) =>
    void errors.push(`environment variable ${variable} ${problem}`);
  const entries = Object.entries(settings).map(([name, { variable, read }]) => [
    name,
    read(environment[variable], makeReject(variable)),
  ]);
  const {
    engineAccessKeyId,
    engineSecretAccessKey,
    agentIntervalSeconds: cachingAgentIntervalSeconds,
    ...others
  } = Object.fromEntries(entries) as Settings;
  const isLocal = others.placement === 'local';
  const hasEngineCredentials = isLocal && Boolean(engineAccessKeyId || engineSecretAccessKey);
  const config: Config = {
    ...others,
    agentIntervalMs: cachingAgentIntervalSeconds * 1000,
    servesAgents: isLocal || others.agentAudience !== undefined,
    engineCredentials: hasEngineCredentials
      ? {
          accessKeyId: readRequired(engineAccessKeyId, makeReject(variables.engineAccessKeyId)),
          secretAccessKey: readRequired(engineSecretAccessKey, makeReject(variables.engineSecretAccessKey)),
        }
      : undefined,
    endpoints: isLocal ? readEndpoints(environment) : {},
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
  return isOffered && settings.responseStreaming.read(environment[variables.responseStreaming]);
}

/** Whether the front door of one machine logs requests with their headers and bodies: where `VERBOSE_REQUEST_LOGGING` is `true`. */
export function areRequestsVerbose(environment: Environment = readEnvironment()): boolean {
  return settings.verboseRequests.read(environment[variables.verboseRequests]);
}

/** The process's environment. This file is the only place that reads it. */
export function readEnvironment(): Environment {
  return process.env;
}

/**
 * The environment for what is none of ours: placeholders in settings, and programs that accounts name, such as exec plugins. It
 * is without what opens engines.
 */
export function toOuterEnvironment(environment: Environment): Environment {
  const {
    [variables.engineAccessKeyId]: _id,
    [variables.engineSecretAccessKey]: _secret,
    ...others
  } = environment;
  return others;
}

/** Sets variables for this process and what it starts. */
export function setEnvironment(values: { readonly [name: string]: string }): void {
  Object.assign(process.env, values);
}

function readEndpoints(environment: Environment): Endpoints {
  const { dynamodb, sqs, eventbridge } = endpointVariables;
  return {
    dynamodb: environment[dynamodb] || undefined,
    sqs: environment[sqs] || undefined,
    eventbridge: environment[eventbridge] || undefined,
  };
}

function readRequired(text: string | undefined, reject: (problem: string) => void): string {
  if (!text) reject('must be set');
  return text ?? '';
}

function readOptional(text: string | undefined): string | undefined {
  return text || undefined;
}

/** Reads one of some words, the first where none is given. */
function makeChoice<const T extends string>(...choices: readonly [T, ...T[]]): Setting<T>['read'] {
  return (text, reject) => {
    const found = choices.find((choice) => choice === (text || choices[0]));
    if (found === undefined) reject(`must be one of ${choices.join(', ')}, not '${text}'`);
    return found ?? choices[0];
  };
}

/** Reads a whole number within bounds. */
function makeWhole({ least, most, otherwise }: WholeNumber): Setting<number>['read'] {
  return (text, reject) => {
    if (!text) return otherwise;
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    const isWithin = number >= least && number <= most;
    if (!isWithin) reject(`must be a whole number from ${least} to ${most}`);
    return number;
  };
}

interface WholeNumber {
  readonly least: number;
  readonly most: number;
  /** Where the variable is not set. */
  readonly otherwise: number;
}

function readStringList(text: string | undefined, reject: (problem: string) => void): readonly string[] {
  if (!text) return [];
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  } catch {
    // Falls through: not JSON is the same complaint as JSON of another shape.
  }
  reject('must be a JSON array of paths');
  return [];
}

function splitCommas(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
