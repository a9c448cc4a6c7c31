import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type FunctionOptions,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route, Use } from '#functions/route.ts';
import { variables } from '#platform/config.ts';
import { toCode, toHandler } from '../bundling/bundling.ts';
import { type Context, toResourceName } from '../context/context.ts';
import { listAccountGrants, listTaggedSecrets } from '../context/grant-sizes.ts';
import {
  isTelling,
  toCacheDenials,
  toClusterStatements,
  toNetworkStatements,
  toUseStatements,
} from './grants.ts';
import { acknowledgeHints } from './hint-grants.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';
import { type FunctionNetwork, type SharedResources, toEnvironment } from './shared-resources.ts';

/** What a table of functions says of one. */
export interface FunctionRow extends Pick<Route, 'module' | 'timeoutSeconds' | 'memoryMb'> {
  /** Default `store`. */
  readonly reaches?: Route['reaches'];
  /** Default: nothing. */
  readonly uses?: readonly Use[] | undefined;
}

/** What a function is made of. */
export interface ServiceFunctionProps {
  readonly row: FunctionRow;
  readonly sharedResources: SharedResources;
  /** Invocations at once that are set aside for it, and its limit. Default: none are. */
  readonly reservedConcurrency?: number;
  /** Whether its messages come back to it: by default Lambda ends such a chain after some sixteen. Default false. */
  readonly sendsToItself?: boolean;
  /** Further variables. Default: none. */
  readonly environment?: { readonly [name: string]: string };
  /** Further statements of its role. Default: none. */
  readonly statements?: readonly PolicyStatement[];
}

/** Memory of a function whose row says nothing, MB. */
const defaultMemoryMb = 1024;

/** A function of ours: its bundle, its own role with the least grants, its log. */
export class ServiceFunction extends Construct {
  readonly function: LambdaFunction;
  /** The function's name in Lambda, known before it is deployed. */
  readonly functionName: string;
  readonly #context: Context;
  readonly #name: string;

  constructor(scope: Construct, props: ServiceFunctionProps) {
    const { row, sharedResources } = props;
    super(scope, toConstructId(row.module));
    this.#context = sharedResources.context;
    this.#name = getModuleName(row.module);
    this.functionName = toResourceName(this.#context, this.#name);
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${this.functionName}`,
      retention: sharedResources.context.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const network = (row.reaches ?? 'store') === 'store' ? undefined : sharedResources.network;
    this.function = new LambdaFunction(this, 'Function', {
      code: toCode(this, row.module),
      handler: toHandler(row.module),
      functionName: this.functionName,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(row.timeoutSeconds),
      memorySize: row.memoryMb ?? defaultMemoryMb,
      role,
      environment: getEnvironment(props),
      tracing: Tracing.ACTIVE,
      ...toLogOptions(props, logGroup),
      ...(network && toVpcOptions(network)),
      ...(props.sendsToItself && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(props.reservedConcurrency && { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    for (const statement of [
      toLogStatement(logGroup),
      ...toUseStatements(row.uses ?? [], sharedResources),
      ...(row.reaches === 'cluster' ? toClusterStatements(sharedResources) : []),
      ...toCacheDenials(row, sharedResources),
      ...(network ? toNetworkStatements(this.functionName) : []),
      ...(props.statements ?? []),
    ]) {
      role.addToPolicy(statement);
    }
    acknowledgeWildcards(this, listChosen(row, sharedResources.context));
    if (row.uses?.some(isTelling))
      Validations.of(this).acknowledge(...acknowledgeHints(this, sharedResources.hints));
  }

  /** Adds the alarms about a function for which no caller waits. */
  addAlarms(): void {
    new ServiceAlarm(this, 'Errors', {
      context: this.#context,
      name: `${this.#name}-errors`,
      description: `The function ${this.functionName} threw, or ran out of time or memory: see its log.`,
      metric: this.function.metricErrors({ period: alarmPeriod }),
      threshold: 1,
    });
    new ServiceAlarm(this, 'Throttles', {
      context: this.#context,
      name: `${this.#name}-throttles`,
      description: `Lambda refused to run ${this.functionName}: the account's concurrency is used up.`,
      metric: this.function.metricThrottles({ period: alarmPeriod }),
      threshold: 1,
    });
  }
}

/** `api/tasks/get-task` becomes `get-task`. */
function getModuleName(module: string): string {
  return module.slice(module.lastIndexOf('/') + 1);
}

/** `api/tasks/get-task` becomes `GetTask`. */
function toConstructId(module: string): string {
  return getModuleName(module).replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function getEnvironment({ row, sharedResources, environment }: ServiceFunctionProps): {
  [name: string]: string;
} {
  const { uses = [] } = row;
  return {
    ...toEnvironment(sharedResources),
    // By these a function knows what it may read: what is not named it takes from the account facts.
    ...(uses.includes('readAccounts') && { [variables.configSecretArn]: sharedResources.configSecretArn }),
    ...(uses.includes('readArtifactAccounts') && {
      [variables.artifactsSecretArn]: sharedResources.artifactsSecretArn,
    }),
    ...(uses.some(isTelling) && sharedResources.hints && { [variables.hintsUrl]: sharedResources.hints.url }),
    ...environment,
  };
}

function toLogOptions({ sharedResources }: ServiceFunctionProps, logGroup: ILogGroup): FunctionOptions {
  return {
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel[sharedResources.context.logLevel],
    systemLogLevelV2: SystemLogLevel.WARN,
  };
}

function toVpcOptions({ vpc, subnets, securityGroup }: FunctionNetwork): FunctionOptions {
  return { vpc, vpcSubnets: { subnets: [...subnets] }, securityGroups: [securityGroup] };
}

function toLogStatement(logGroup: ILogGroup): PolicyStatement {
  return new PolicyStatement({
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [logGroup.logGroupArn],
  });
}

/** Resources that the operator chose, as cdk-nag names them. */
function listChosen(
  { reaches, uses = [] }: ServiceFunctionProps['row'],
  context: Context,
): readonly string[] {
  const { artifactStoreBucket: bucket } = context;
  return [
    ...(reaches === 'cluster' ? listAccountGrants(context).flatMap(({ resources }) => resources) : []),
    ...(uses.includes('readSecretRoles') ? listTaggedSecrets(context) : []),
    ...(uses.includes('readArtifactStore') ? [`arn:<AWS::Partition>:s3:::${bucket}/*`] : []),
  ];
}

function acknowledgeWildcards(scope: ServiceFunction, resources: readonly string[]): void {
  const interfaces = 'Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:*/*';
  const chosen = resources
    .filter((resource) => resource.endsWith('*'))
    .map((resource) => ({
      id: `AwsSolutions-IAM5[Resource::${resource}]`,
      reason:
        'The operator grants all that begins so: one by one, a thousand would not fit into the policies of a role.',
    }));
  Validations.of(scope).acknowledge(
    {
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'X-Ray takes traces, ECR gives tokens, and EC2 describes interfaces and subnets, on no resource: they know only *.',
    },
    {
      id: `AwsSolutions-IAM5[${interfaces}]`,
      reason:
        "Lambda makes the function's network interfaces under its role; the function's own code is denied it.",
    },
    ...chosen,
  );
}
