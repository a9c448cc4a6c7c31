import type { Queue } from '../../functions/queues.ts';
import type { Table } from '../../shared/aws/tables.ts';
import { type Environment, type LogLevel, variables } from '../../shared/runtime/config.ts';
import { localAccountId, localClientOptions } from './local-aws.ts';

/** URLs of the engines. */
export interface Engines {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly eventbridge: string;
}

/** What the user may choose of the functions' configuration. */
export interface FunctionSettings {
  /** Spinnaker YAML files or directories, later wins. */
  readonly configFiles: readonly string[];
  /** Spring profiles. */
  readonly profiles: readonly string[];
  /** A kubeconfig whose contexts are the accounts when no configuration names any. */
  readonly kubeconfig: string | undefined;
  readonly logLevel: LogLevel;
}

/** What the environment is made from. */
export interface EnvironmentParts {
  readonly settings: FunctionSettings;
  readonly engines: Engines;
  readonly tables: readonly Table[];
  readonly queues: readonly Queue[];
  readonly busName: string;
}

/**
 * The variables that functions find in Lambda: names of their resources, and where AWS is.
 *
 * @param current the environment so far: credentials and region that it has are kept, for clusters in EKS need them
 */
export function toFunctionEnvironment(
  parts: EnvironmentParts,
  current: Environment,
): { [name: string]: string } {
  const { settings, engines, tables, queues, busName } = parts;
  const resources = [
    ...tables.map(({ name }) => [`BUSDRIVER_${toUpperSnake(name)}_TABLE`, name]),
    ...queues.map(({ name }) => [
      `BUSDRIVER_${toUpperSnake(name)}_QUEUE_URL`,
      `${engines.sqs}/${localAccountId}/${name}`,
    ]),
  ];
  return {
    ...Object.fromEntries(resources),
    [variables.busName]: busName,
    [variables.configFiles]: JSON.stringify(settings.configFiles),
    [variables.profiles]: settings.profiles.join(','),
    [variables.kubeconfig]: settings.kubeconfig ?? '',
    [variables.placement]: 'local',
    [variables.logLevel]: settings.logLevel,
    AWS_ENDPOINT_URL_DYNAMODB: engines.dynamodb,
    AWS_ENDPOINT_URL_SQS: engines.sqs,
    AWS_ENDPOINT_URL_EVENTBRIDGE: engines.eventbridge,
    ...toCredentials(current),
  };
}

/** Clients refuse to start without region and credentials, which the local engines ignore. */
function toCredentials(current: Environment): { [name: string]: string } {
  const { region, credentials } = localClientOptions;
  const hasOwn =
    current['AWS_ACCESS_KEY_ID'] || current['AWS_PROFILE'] || current['AWS_WEB_IDENTITY_TOKEN_FILE'];
  return {
    ...(!current['AWS_REGION'] && { AWS_REGION: region }),
    ...(!hasOwn && {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: 'true',
    }),
  };
}

function toUpperSnake(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
