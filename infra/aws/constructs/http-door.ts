import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { CfnApi, CfnIntegration, CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '#functions/route.ts';
import { type Context, toResourceName } from '../context/context.ts';
import { getResource } from './grants.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';

/** What the API of agents is made of. */
export interface HttpDoorProps {
  readonly context: Context;
  readonly routes: readonly Route[];
  /** Functions by module. */
  readonly functions: ReadonlyMap<string, IFunction>;
  /** Under which API Gateway calls functions. */
  readonly invocationRole: IRole;
}

/** Name of the only stage: the root of the API. */
const stageName = '$default';

/** Requests a second of all agents together that the stage lets through in the long run, and at once; others are answered with 429. */
const throttling = { throttlingRateLimit: 2_000, throttlingBurstLimit: 4_000 };

/** The longest time that an HTTP API waits for a function, milliseconds ("Quotas for configuring and running an HTTP API"). */
const timeoutInMillis = 30_000;

/** Share of failed requests at which an alarm rings. */
const serverErrorsShare = 0.1;

/** One line of the access log: no query, no header, no body. */
const accessLogFields = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  route: '$context.routeKey',
  path: '$context.path',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  functionLatencyMs: '$context.integration.latency',
  functionStatus: '$context.integration.status',
  bytes: '$context.responseLength',
  error: '$context.error.responseType',
  from: '$context.identity.sourceIp',
};

/** The HTTP API that agents call: public, for they are anywhere, and each function asks who calls. */
export class HttpDoor extends Construct {
  readonly api: CfnApi;
  readonly stage: CfnStage;
  readonly #props: HttpDoorProps;

  constructor(scope: Construct, id: string, props: HttpDoorProps) {
    super(scope, id);
    this.#props = props;
    const { context } = props;
    this.api = new CfnApi(this, 'Api', {
      name: toResourceName(context, 'agents'),
      description: 'Busdriver: what agents call',
      protocolType: 'HTTP',
      // API Gateway's own name would be a way around mutual TLS.
      disableExecuteApiEndpoint: context.agentsDomainName !== undefined,
    });
    const modules = new Set(props.routes.map(({ module }) => module));
    const integrations = new Map([...modules].map((module) => [module, this.#integrate(module)]));
    for (const route of props.routes) this.#addRoute(route, integrations.get(route.module)?.ref ?? '');
    this.stage = this.#makeStage();
    this.#addAlarm();
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason:
        'Functions ask who calls: by a token of a cluster, a client certificate or a token of a session.',
    });
  }

  #integrate(module: string): CfnIntegration {
    const { functions, invocationRole } = this.#props;
    return new CfnIntegration(this, `Integration-${module.slice(module.lastIndexOf('/') + 1)}`, {
      apiId: this.api.ref,
      integrationType: 'AWS_PROXY',
      integrationUri: getResource(functions, module).functionArn,
      credentialsArn: invocationRole.roleArn,
      payloadFormatVersion: '2.0',
      timeoutInMillis,
    });
  }

  #addRoute({ method, path, signed = false }: Route, integrationId: string): void {
    new CfnRoute(this, `${method} ${path.replaceAll('/', ' ')}`, {
      apiId: this.api.ref,
      routeKey: `${method} ${path}`,
      authorizationType: signed ? 'AWS_IAM' : 'NONE',
      target: `integrations/${integrationId}`,
    });
  }

  #makeStage(): CfnStage {
    const { logRetentionDays, namePrefix, stage } = this.#props.context;
    const logGroup = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/apigateway/${namePrefix}-${stage}-agents`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return new CfnStage(this, 'Stage', {
      apiId: this.api.ref,
      stageName,
      autoDeploy: true,
      accessLogSettings: { destinationArn: logGroup.logGroupArn, format: JSON.stringify(accessLogFields) },
      defaultRouteSettings: throttling,
    });
  }

  #addAlarm(): void {
    // Its average is the share of failed requests.
    new ServiceAlarm(this, 'ServerErrors', {
      context: this.#props.context,
      name: 'agents-api-server-errors',
      description: `${100 * serverErrorsShare} % of the requests of agents fail: the access log says which and why.`,
      metric: new Metric({
        namespace: 'AWS/ApiGateway',
        metricName: '5xx',
        dimensionsMap: { ApiId: this.api.ref },
        period: alarmPeriod,
        statistic: Stats.AVERAGE,
      }),
      threshold: serverErrorsShare,
      periods: 2,
    });
  }
}
