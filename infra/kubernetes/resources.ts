import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { getErrorMessage } from '#core/errors.ts';
import type { Queue } from '#functions/queues.ts';
import { toEventSources } from '#infra/server/functions/event-sources.ts';
import { localRegion } from '#infra/server/functions/local-aws.ts';
import type { EventSource } from '#infra/server/functions/workers.ts';
import type { Table } from '#platform/aws/tables.ts';
import { type Environment, endpointVariables, variables } from '#platform/config.ts';

/** What this home works with. */
export interface ResourceNames {
  readonly tables: readonly Table[];
  readonly queues: readonly Queue[];
  /** Prefix of the name of each; the stacks have `busdriver-<stage>-`. */
  readonly namePrefix: string;
}

/**
 * The variables that functions find in Lambda: names of tables, URLs of queues, and the bus. What the environment names already stays.
 *
 * @throws Error naming a queue that is not there
 */
export async function findResources(
  environment: Environment,
  { tables, queues, namePrefix }: ResourceNames,
): Promise<{ [variable: string]: string }> {
  const found: { [variable: string]: string } = {};
  for (const { name } of tables) {
    const variable = `BUSDRIVER_${toUpperSnake(name)}_TABLE`;
    found[variable] = environment[variable] || `${namePrefix}${name}`;
  }
  found[variables.busName] = nameBus(environment, namePrefix);
  using stack = new DisposableStack();
  const client = stack.adopt(new SQSClient(toClientOptions(environment, 'sqs')), (each) => each.destroy());
  for (const { name } of queues) {
    const variable = `BUSDRIVER_${toUpperSnake(name)}_QUEUE_URL`;
    found[variable] = environment[variable] || (await findQueueUrl(client, `${namePrefix}${name}`));
  }
  return found;
}

/** Name of the bus: that of the environment, else the prefix without its dash. */
export function nameBus(environment: Environment, namePrefix: string): string {
  const name = namePrefix.endsWith('-') ? namePrefix.slice(0, -1) : namePrefix;
  return environment[variables.busName] || name || 'default';
}

/** How clients of a service are made: by the environment's endpoint and credentials, else as the AWS SDK finds them. */
export function toClientOptions(environment: Environment, service: keyof typeof endpointVariables) {
  const endpoint = environment[endpointVariables[service]];
  const accessKeyId = environment[variables.engineAccessKeyId];
  const secretAccessKey = environment[variables.engineSecretAccessKey];
  return {
    ...(endpoint && { endpoint }),
    ...(accessKeyId &&
      secretAccessKey && { region: localRegion, credentials: { accessKeyId, secretAccessKey } }),
  };
}

/** What feeds functions from queues and from their dead letters, whose URL has the same end as their name. */
export function listEventSources(queues: readonly Queue[], environment: Environment): readonly EventSource[] {
  const urls = new Map(
    queues.flatMap(({ name }) => {
      const url = environment[`BUSDRIVER_${toUpperSnake(name)}_QUEUE_URL`] ?? '';
      return [
        [name, url],
        [`${name}-dead-letters`, `${url}-dead-letters`],
      ];
    }),
  );
  return toEventSources(queues, (name) => urls.get(name) ?? '');
}

async function findQueueUrl(client: SQSClient, name: string): Promise<string> {
  try {
    const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand({ QueueName: name }));
    return QueueUrl;
  } catch (error) {
    throw new Error(`the queue ${name} cannot be found: ${getErrorMessage(error)}`, { cause: error });
  }
}

function toUpperSnake(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
