import path from 'node:path';
import type { Queue } from '#functions/queues.ts';
import type { Table } from '#platform/aws/tables.ts';
import {
  type EngineCredentials,
  endpointVariables,
  type LocalManagers,
  variables,
} from '#platform/config.ts';
import type { CliOptions } from './cli-options.ts';
import { toQueueUrl } from './engines/sqs/queue-engine.ts';

/** Name of the file in the data directory with the key that signs the sessions of agents. */
const agentKeyFileName = 'agent-sessions.jwk';

/** URLs of engines in another process. */
export interface Engines {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly eventbridge: string;
}

/** What the user may choose of the functions' configuration. */
export interface FunctionSettings
  extends Pick<CliOptions, 'configFiles' | 'profiles' | 'kubeconfig' | 'logLevel'> {
  /** Whether callers on this machine may manage accounts without Fiat. Default `on`. */
  readonly localManagers?: LocalManagers;
}

/** What the environment is made from. */
export interface EnvironmentParts {
  readonly settings: FunctionSettings;
  /** Folder of all data, absolute. Default: none, and agents are not served. */
  readonly dataDir?: string;
  /** Default: engines of this process, which have no address. */
  readonly engines?: Engines;
  /** What they are called with. */
  readonly credentials?: EngineCredentials;
  readonly tables: readonly Table[];
  readonly queues: readonly Queue[];
  readonly busName: string;
}

/**
 * The variables that functions find in Lambda: names of their resources, and where AWS is. Region and credentials of AWS are
 * left as they are, for clusters in EKS need the user's own; those of engines have variables of ours.
 */
export function toFunctionEnvironment(parts: EnvironmentParts): { [name: string]: string } {
  const { settings, engines, credentials, tables, queues, busName, dataDir } = parts;
  const resources = [
    ...tables.map(({ name }) => [`BUSDRIVER_${toUpperSnake(name)}_TABLE`, name]),
    ...queues.map(({ name }) => [
      `BUSDRIVER_${toUpperSnake(name)}_QUEUE_URL`,
      toQueueUrl(name, engines?.sqs),
    ]),
  ];
  return {
    ...Object.fromEntries(resources),
    [variables.busName]: busName,
    [variables.configFiles]: JSON.stringify(settings.configFiles),
    [variables.profiles]: settings.profiles.join(','),
    [variables.kubeconfig]: settings.kubeconfig ?? '',
    [variables.agentKeyFile]: dataDir === undefined ? '' : path.join(dataDir, agentKeyFileName),
    [variables.placement]: 'local',
    [variables.logLevel]: settings.logLevel,
    [variables.localManagers]: settings.localManagers ?? 'on',
    ...(credentials && {
      [variables.engineAccessKeyId]: credentials.accessKeyId,
      [variables.engineSecretAccessKey]: credentials.secretAccessKey,
    }),
    ...(engines && {
      [endpointVariables.dynamodb]: engines.dynamodb,
      [endpointVariables.sqs]: engines.sqs,
      [endpointVariables.eventbridge]: engines.eventbridge,
    }),
  };
}

function toUpperSnake(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
