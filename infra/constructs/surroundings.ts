import { Aws } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecurityGroup, ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { variables } from '../../shared/runtime/config.ts';
import type { Context } from '../context.ts';

/** Where functions that reach clusters or the internet run. */
export interface FunctionNetwork {
  readonly vpc: IVpc;
  readonly subnets: readonly ISubnet[];
  /** The group of all these functions: what clusters let in. */
  readonly securityGroup: ISecurityGroup;
}

/** What functions must know of a table. */
export type TableReference = Pick<ITable, 'tableArn' | 'tableName'>;

/** What functions must know of the bus. */
export type BusReference = Pick<IEventBus, 'eventBusArn' | 'eventBusName'>;

/** What functions must know of a queue. */
export type QueueReference = Pick<IQueue, 'queueArn' | 'queueUrl'>;

/** What functions share. */
export interface Surroundings {
  readonly context: Context;
  /** Undefined where functions run in no VPC. */
  readonly network: FunctionNetwork | undefined;
  /** Tables by the names of their rows. */
  readonly tables: ReadonlyMap<string, TableReference>;
  /** Encrypts the tables, and the secrets that are ours. */
  readonly key: IKey;
  /** ARN of the secret with Spinnaker's YAML. */
  readonly configSecretArn: string;
  /** ARN of the secret with artifact accounts. */
  readonly artifactsSecretArn: string;
  readonly bus: BusReference;
  /** Queues by the names of their rows. */
  readonly queues: ReadonlyMap<string, QueueReference>;
}

/** The variables of every function: where what it shares with the others is. */
export function toEnvironment(surroundings: Surroundings): { [name: string]: string } {
  const { context, tables, queues, bus } = surroundings;
  return {
    ...toVariables(tables, 'TABLE', (table) => table.tableName),
    ...toVariables(queues, 'QUEUE_URL', (queue) => queue.queueUrl),
    [variables.busName]: bus.eventBusName,
    [variables.profiles]: context.profiles.join(','),
    [variables.logLevel]: context.logLevel,
    [variables.agentIntervalSeconds]: String(context.agentIntervalSeconds),
    NODE_OPTIONS: '--enable-source-maps',
  };
}

/** `BUSDRIVER_TASKS_TABLE` for the row `tasks`: the names that the local runtime gives them. */
function toVariables<T>(
  resources: ReadonlyMap<string, T>,
  kind: string,
  getValue: (resource: T) => string,
): { [name: string]: string } {
  const entries = [...resources].map(([name, resource]) => {
    const row = name.toUpperCase().replaceAll('-', '_');
    return [`BUSDRIVER_${row}_${kind}`, getValue(resource)] as const;
  });
  return Object.fromEntries(entries);
}

/** A queue that is made in a stack that comes later. */
export function nameQueue(name: string): QueueReference {
  return {
    queueArn: `arn:${Aws.PARTITION}:sqs:${Aws.REGION}:${Aws.ACCOUNT_ID}:${name}`,
    queueUrl: `https://sqs.${Aws.REGION}.${Aws.URL_SUFFIX}/${Aws.ACCOUNT_ID}/${name}`,
  };
}
