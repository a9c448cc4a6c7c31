import { Aws, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SpecRestApi,
  type SpecRestApiProps,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AccountRootPrincipal,
  AnyPrincipal,
  ArnPrincipal,
  type IPrincipal,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '#functions/routes.ts';
import { type Authentication, type Context, toResourceName } from '../context/context.ts';
import { splitArns } from '../context/grant-sizes.ts';
import { allowCalls, type EndpointReference, listOwnEndpoints, toEndpointPolicy } from './api-endpoints.ts';
import { createGatewayDocument } from './gateway-document.ts';
import { getResource } from './grants.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';

/** What the API is made of. */
export interface FrontDoorProps {
  readonly context: Context;
  readonly routes: readonly Route[];
  /** Functions by module. */
  readonly functions: ReadonlyMap<string, IFunction>;
  /** The interface endpoints through which alone the API answers; none for a public API. */
  readonly endpoints: readonly EndpointReference[];
  /** How callers prove who they are. */
  readonly authentication: Authentication;
  /** Decides who may call, with `secret`; undefined with anything else. */
  readonly authorizer: { readonly function: IFunction; readonly lifetimeSeconds: number } | undefined;
}

/** Name of the API's only stage. */
const stageName = 'live';

/** Requests a second that the stage lets through, of all callers together, in the long run; others are answered with 503. */
export const stageRateMax = 2_000;

/** Requests that the stage lets through at once, after a time with few. */
export const stageBurstMax = 4_000;

/** Share of failed requests at which an alarm rings. */
const serverErrorsShare = 0.1;

/** The REST API: private unless it is said to be public, each route leading to its function. */
export class FrontDoor extends Construct {
  readonly api: SpecRestApi;

  constructor(scope: Construct, id: string, props: FrontDoorProps) {
    super(scope, id);
    const { context } = props;
    this.api = new SpecRestApi(this, 'Api', {
      restApiName: toResourceName(context, 'api'),
      description: 'Clouddriver, by Busdriver',
      apiDefinition: ApiDefinition.fromInline(this.#describe(props)),
      // Streamed answers pass as they are, and bodies of requests as text. What comes in one piece comes in base64 where it is
      // gzipped: whatever the caller accepts is to be taken for bytes then, and so is what it sends.
      ...(!context.responseStreaming && { binaryMediaTypes: ['*/*'] }),
      ...this.#toReach(props),
      deployOptions: this.#makeStage(context),
      // The role belongs to the account's whole region: it stays when the stack goes.
      cloudWatchRole: context.apiLogRole === 'create',
    });
    // The address that CDK puts out has a stage in it, and none that leads to a private API.
    this.api.node.tryRemoveChild('Endpoint');
    this.#addAlarm(context);
    this.#acknowledge();
  }

  #describe({ functions, authorizer, ...props }: FrontDoorProps): object {
    const role = new Role(this, 'Invocation', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    });
    const invoked = [...functions.values(), ...(authorizer ? [authorizer.function] : [])];
    const arns = invoked.map(({ functionArn }) => functionArn);
    for (const resources of splitArns(arns))
      role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    return createGatewayDocument({
      ...props,
      getFunctionArn: (module) => getResource(functions, module).functionArn,
      invocationRoleArn: role.roleArn,
      invocationPrefix: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path`,
      responseStreaming: props.context.responseStreaming,
      publicApi: props.context.publicApi,
      authentication: props.authentication,
      authorizer: authorizer && {
        functionArn: authorizer.function.functionArn,
        lifetimeSeconds: authorizer.lifetimeSeconds,
      },
    });
  }

  /** From where, and by whom, the API can be reached. @throws Error for a private API without an endpoint: it must not be a public one. */
  #toReach(props: FrontDoorProps): Partial<SpecRestApiProps> {
    const { context, endpoints, authentication } = props;
    // The import of a document falls back to another type of endpoint unless it is told.
    const type = context.publicApi ? EndpointType.REGIONAL : EndpointType.PRIVATE;
    const parameters = { endpointConfigurationTypes: type };
    if (context.publicApi) {
      // API Gateway's own name would be a way around mutual TLS.
      const disableExecuteApiEndpoint = context.domainName !== undefined;
      const policy = authentication === 'iam' ? allowCalls(listCallers(props)) : undefined;
      return {
        endpointConfiguration: { types: [type] },
        parameters,
        disableExecuteApiEndpoint,
        ...(policy && { policy }),
      };
    }
    if (endpoints.length === 0) throw new Error('a private API needs the endpoints through which it answers');
    const vpcEndpoints = listOwnEndpoints(this, endpoints);
    return {
      endpointConfiguration: { types: [type], ...(vpcEndpoints.length > 0 && { vpcEndpoints }) },
      parameters,
      policy: toEndpointPolicy(endpoints, listCallers(props)),
    };
  }

  #makeStage({ logRetentionDays, namePrefix, stage }: Context): StageOptions {
    const logGroup = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/apigateway/${namePrefix}-${stage}`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return {
      stageName,
      accessLogDestination: new LogGroupLogDestination(logGroup),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      loggingLevel: MethodLoggingLevel.ERROR,
      throttlingRateLimit: stageRateMax,
      throttlingBurstLimit: stageBurstMax,
      tracingEnabled: true,
    };
  }

  #addAlarm(context: Context): void {
    // Its average is the share of failed requests: so one dead cluster does not wake anybody.
    new ServiceAlarm(this, 'ServerErrors', {
      context,
      name: 'api-server-errors',
      description: `${100 * serverErrorsShare} % of the requests to the API fail: the access log says which and why.`,
      metric: this.api.metricServerError({ period: alarmPeriod, statistic: Stats.AVERAGE }),
      threshold: serverErrorsShare,
      periods: 2,
    });
  }

  #acknowledge(): void {
    Validations.of(this).acknowledge(
      {
        id: 'AwsSolutions-APIG2',
        reason:
          'Functions validate requests themselves, for what is wrong is to be told as Clouddriver tells it.',
      },
      {
        id: 'AwsSolutions-APIG3',
        reason:
          'No browser and no stranger calls it: an endpoint, mutual TLS, IAM or a shared secret decides who does.',
      },
      {
        id: `AwsSolutions-IAM4[${logPolicy}]`,
        reason: "API Gateway's own policy for the role of the account with which it writes logs.",
      },
    );
  }
}

const logPolicy =
  'Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';

/** One line of the access log: no query, no header, no body. */
const accessLogFields = {
  requestId: '$context.requestId',
  traceId: '$context.xrayTraceId',
  time: '$context.requestTime',
  method: '$context.httpMethod',
  path: '$context.path',
  route: '$context.resourcePath',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  functionLatencyMs: '$context.integration.latency',
  functionStatus: '$context.integration.status',
  bytes: '$context.responseLength',
  error: '$context.error.responseType',
  from: '$context.identity.sourceIp',
};

/** The allowed callers, as far as AWS knows them: with `iam` those named, else those whom the policies of the account itself allow. */
function listCallers({ authentication, context }: FrontDoorProps): IPrincipal[] {
  if (authentication !== 'iam') return [new AnyPrincipal()];
  if (context.callerArns.length === 0) return [new AccountRootPrincipal()];
  return context.callerArns.map((arn) => new ArnPrincipal(arn));
}
