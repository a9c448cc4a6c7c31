import { Annotations, Aws, type Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type ISecurityGroup, type ISubnet, type IVpc, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { queues } from '#functions/queues.ts';
import { tables } from '#platform/aws/tables.ts';
import { variables } from '#platform/config.ts';
import { type Context, toResourceName } from '../context/context.ts';
import { readSharedValue } from './shared-values.ts';

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

/** Where agents hear of work. */
export interface HintsReference {
  /** `wss://…/live` */
  readonly url: string;
  readonly apiId: string;
}

/** What functions share. */
export interface SharedResources {
  readonly context: Context;
  /** Undefined where functions run in no VPC. */
  readonly network: FunctionNetwork | undefined;
  /** Tables by the names of their rows. */
  readonly tables: ReadonlyMap<string, TableReference>;
  /** ARN of the key that encrypts the tables, and the secrets that are ours. */
  readonly keyArn: string;
  /** ARN of the secret with Spinnaker's YAML. */
  readonly configSecretArn: string;
  /** ARN of the secret with artifact accounts. */
  readonly artifactsSecretArn: string;
  /** ARN of the secret that callers share with the API. */
  readonly authorizerSecretArn: string;
  readonly bus: BusReference;
  /** Queues by the names of their rows. */
  readonly queues: ReadonlyMap<string, QueueReference>;
  /** Undefined where agents are not served. */
  readonly hints: HintsReference | undefined;
}

/**
 * What functions of a stack share with those of others. Tables, queues and the bus go by their names, the rest by what other stacks
 * tell: nothing is exported, so that every option can change later.
 *
 * @param stack one of the topmost; it must depend on the data, bus and network stacks, and on the one of agents where there is one
 * @param hints left out, it is what the stack of agents told
 */
export function createSharedResources(
  stack: Stack,
  context: Context,
  hints?: HintsReference,
): SharedResources {
  return {
    context,
    network: context.vpcId === undefined ? undefined : findNetwork(stack, context, context.vpcId),
    tables: new Map(tables.map(({ name }) => [name, nameTable(toResourceName(context, name))])),
    queues: new Map(queues.map(({ name }) => [name, nameQueue(toResourceName(context, name))])),
    bus: nameBus(nameEventBus(context)),
    // When they are asked for: a stack has a parameter for what it uses, and for nothing else.
    get keyArn() {
      return context.encryptionKeyArn ?? readSharedValue(stack, context, 'key-arn');
    },
    get configSecretArn() {
      return context.configSecretArn ?? readSharedValue(stack, context, 'config-secret-arn');
    },
    get artifactsSecretArn() {
      return context.artifactsSecretArn ?? readSharedValue(stack, context, 'artifacts-secret-arn');
    },
    get authorizerSecretArn() {
      return context.authorizerSecretArn ?? readSharedValue(stack, context, 'authorizer-secret-arn');
    },
    get hints() {
      if (!context.agents || hints !== undefined) return hints;
      return {
        url: readSharedValue(stack, context, 'hints-url'),
        apiId: readSharedValue(stack, context, 'hints-api-id'),
      };
    },
  };
}

/** The operator's VPC and subnets, and the security group of the network stack. */
function findNetwork(stack: Stack, context: Context, vpcId: string): FunctionNetwork {
  const vpc = findVpc(stack, context, vpcId);
  const groupId = readSharedValue(stack, context, 'functions-security-group-id');
  const securityGroup = SecurityGroup.fromSecurityGroupId(stack, 'Functions', groupId, { mutable: false });
  return { vpc, subnets: vpc.privateSubnets, securityGroup };
}

/** The existing VPC, as a stack refers to it. */
export function findVpc(stack: Stack, { subnetIds }: Context, vpcId: string): IVpc {
  const acknowledged = '@aws-cdk/aws-ec2:noSubnetRouteTableId';
  Annotations.of(stack).acknowledgeWarning(acknowledged, 'Nothing here reads a route table.');
  return Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId,
    // Nothing of ours depends on zones; CDK wants as many as there are subnets.
    availabilityZones: subnetIds.map((_, index) => `zone-${index}`),
    privateSubnetIds: [...subnetIds],
  });
}

/** Name of the event bus: it alone has no word behind prefix and stage. */
export function nameEventBus({ namePrefix, stage }: Context): string {
  return `${namePrefix}-${stage}`;
}

/** The variables of every function: where what it shares with the others is. */
export function toEnvironment(sharedResources: SharedResources): { [name: string]: string } {
  const { context, tables, queues, bus } = sharedResources;
  return {
    ...toVariables(tables, 'TABLE', (table) => table.tableName),
    ...toVariables(queues, 'QUEUE_URL', (queue) => queue.queueUrl),
    [variables.busName]: bus.eventBusName,
    [variables.profiles]: context.profiles.join(','),
    [variables.logLevel]: context.logLevel,
    [variables.agentIntervalSeconds]: String(context.agentIntervalSeconds),
    ...(context.agents && { [variables.agentAudience]: `busdriver:${context.stage}` }),
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

function nameTable(tableName: string): TableReference {
  return { tableName, tableArn: toArn('dynamodb', `table/${tableName}`) };
}

function nameQueue(name: string): QueueReference {
  return {
    queueArn: toArn('sqs', name),
    queueUrl: `https://sqs.${Aws.REGION}.${Aws.URL_SUFFIX}/${Aws.ACCOUNT_ID}/${name}`,
  };
}

function nameBus(eventBusName: string): BusReference {
  return { eventBusName, eventBusArn: toArn('events', `event-bus/${eventBusName}`) };
}

function toArn(service: string, resource: string): string {
  return `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
}
