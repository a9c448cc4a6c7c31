import { Aws, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  CfnApi,
  CfnAuthorizer,
  CfnIntegration,
  CfnIntegrationResponse,
  CfnRoute,
  CfnRouteResponse,
  CfnStage,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Context, toResourceName } from '../context/context.ts';
import { hintsStage } from './hint-grants.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';

/** What answers on the WebSocket API. */
export interface HintFunctions {
  readonly connect: IFunction;
  readonly disconnect: IFunction;
  /** Decides who may connect. */
  readonly authorizer: IFunction;
  /** Under which API Gateway calls them. */
  readonly invocationRole: IRole;
}

/** Connections and pings a second that the stage lets through in the long run, and at once. */
const throttling = { throttlingRateLimit: 500, throttlingBurstLimit: 1_000 };

/** Failures within five minutes for which an alarm rings. */
const failuresMax = 50;

/** A frame is `{"v":1,"t":"ping","n":1}`: see shared/agents/protocol/hint-frames.ts. */
const routeSelectionExpression = '$request.body.t';
const pong = '{"v":1,"t":"pong","n":0}';

/** One line of the access log: no query, no header, no frame. */
const accessLogFields = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  route: '$context.routeKey',
  event: '$context.eventType',
  connection: '$context.connectionId',
  status: '$context.status',
  error: '$context.error.responseType',
  authorizer: '$context.authorizer.status',
  from: '$context.identity.sourceIp',
};

/**
 * The WebSocket API on which agents hear that there is work. Pings cost no function: API Gateway answers them itself. What agents are
 * told, functions post to their connections.
 */
export class HintChannel extends Construct {
  readonly api: CfnApi;
  /** Where agents connect: `wss://…/live`. */
  readonly url: string;
  readonly #context: Context;

  constructor(scope: Construct, id: string, { context }: { readonly context: Context }) {
    super(scope, id);
    this.#context = context;
    this.api = new CfnApi(this, 'Api', {
      name: toResourceName(context, 'agents-hints'),
      description: 'Busdriver: where agents hear that there is work',
      protocolType: 'WEBSOCKET',
      routeSelectionExpression,
    });
    this.url = `${this.api.attrApiEndpoint}/${hintsStage}`;
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'An authorizer decides who connects: API Gateway takes none for what comes on a connection.',
    });
  }

  /** Adds what answers, and the stage: apart from making the API, for functions must know where it is. */
  serve(functions: HintFunctions): CfnStage {
    const authorizer = new CfnAuthorizer(this, 'Authorizer', {
      apiId: this.api.ref,
      name: 'agent-session',
      authorizerType: 'REQUEST',
      identitySource: ['route.request.header.Authorization'],
      authorizerUri: toUri(functions.authorizer),
      authorizerCredentialsArn: functions.invocationRole.roleArn,
    });
    const routes = [
      this.#addRoute('$connect', this.#call('Connect', functions.connect, functions), {
        authorizationType: 'CUSTOM',
        authorizerId: authorizer.ref,
      }),
      this.#addRoute('$disconnect', this.#call('Disconnect', functions.disconnect, functions)),
      this.#addPing(),
      this.#addRoute('$default', this.#mock('Ignored')),
    ];
    const stage = this.#makeStage();
    // An API without routes cannot be deployed.
    for (const route of routes) stage.addDependency(route);
    this.#addAlarm();
    return stage;
  }

  #addRoute(
    routeKey: string,
    integration: CfnIntegration,
    props: Partial<ConstructorParameters<typeof CfnRoute>[2]> = {},
  ): CfnRoute {
    return new CfnRoute(this, `Route-${routeKey.replace('$', '')}`, {
      apiId: this.api.ref,
      routeKey,
      authorizationType: 'NONE',
      target: `integrations/${integration.ref}`,
      ...props,
    });
  }

  #call(id: string, callee: IFunction, { invocationRole }: HintFunctions): CfnIntegration {
    return new CfnIntegration(this, id, {
      apiId: this.api.ref,
      integrationType: 'AWS_PROXY',
      integrationUri: toUri(callee),
      credentialsArn: invocationRole.roleArn,
    });
  }

  #mock(id: string): CfnIntegration {
    return new CfnIntegration(this, id, {
      apiId: this.api.ref,
      integrationType: 'MOCK',
      templateSelectionExpression: '200',
      requestTemplates: { '200': '{"statusCode":200}' },
    });
  }

  #addPing(): CfnRoute {
    const integration = this.#mock('Ping');
    const response = new CfnIntegrationResponse(this, 'Pong', {
      apiId: this.api.ref,
      integrationId: integration.ref,
      integrationResponseKey: '$default',
      templateSelectionExpression: '200',
      responseTemplates: { '200': pong },
    });
    const route = this.#addRoute('ping', integration, { routeResponseSelectionExpression: '$default' });
    new CfnRouteResponse(this, 'PingResponse', {
      apiId: this.api.ref,
      routeId: route.attrRouteId,
      routeResponseKey: '$default',
    });
    route.addDependency(response);
    return route;
  }

  #makeStage(): CfnStage {
    const { logRetentionDays, namePrefix, stage } = this.#context;
    const logGroup = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/apigateway/${namePrefix}-${stage}-agents-hints`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return new CfnStage(this, 'Stage', {
      apiId: this.api.ref,
      stageName: hintsStage,
      autoDeploy: true,
      accessLogSettings: { destinationArn: logGroup.logGroupArn, format: JSON.stringify(accessLogFields) },
      defaultRouteSettings: throttling,
    });
  }

  #addAlarm(): void {
    new ServiceAlarm(this, 'Failures', {
      context: this.#context,
      name: 'agents-hints-failures',
      description: 'Agents cannot connect to hear of work, and ask for it instead: see the access log.',
      metric: new Metric({
        namespace: 'AWS/ApiGateway',
        metricName: 'IntegrationError',
        dimensionsMap: { ApiId: this.api.ref },
        period: alarmPeriod,
        statistic: Stats.SUM,
      }),
      threshold: failuresMax,
      periods: 2,
    });
  }
}

/** By which a WebSocket API calls a function. */
function toUri({ functionArn }: IFunction): string {
  return `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${functionArn}/invocations`;
}
