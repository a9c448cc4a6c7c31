import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { agentRoutes, connectRow, disconnectRow } from '#functions/agent-routes.ts';
import { agentSessionAuthorizer } from '#functions/authorizers.ts';
import { variables } from '#platform/config.ts';
import { AgentsDomain } from '../constructs/agents-domain.ts';
import { GatewayAccount } from '../constructs/gateway-account.ts';
import { getResource } from '../constructs/grants.ts';
import { HintChannel } from '../constructs/hint-channel.ts';
import { HttpDoor } from '../constructs/http-door.ts';
import { type FunctionRow, ServiceFunction } from '../constructs/service-function.ts';
import { createSharedResources, type SharedResources } from '../constructs/shared-resources.ts';
import { shareValue } from '../constructs/shared-values.ts';
import { type Context, toResourceName } from '../context/context.ts';
import { splitArns } from '../context/grant-sizes.ts';

/** What agents of otherwise unreachable clusters call: an HTTP API, a WebSocket API for hints, and the key of their sessions. */
export class AgentsStack extends Stack {
  readonly #sharedResources: SharedResources;
  readonly #key: Key;

  constructor(scope: Construct, id: string, { context }: { readonly context: Context }) {
    super(scope, id, { description: 'Busdriver: what agents call, and where they hear of work' });
    const channel = new HintChannel(this, 'Hints', { context });
    const hints = { url: channel.url, apiId: channel.api.ref };
    this.#sharedResources = createSharedResources(this, context, hints);
    this.#key = this.#makeKey(context);
    const rows: readonly FunctionRow[] = [
      ...agentRoutes,
      ...[connectRow, disconnectRow, agentSessionAuthorizer],
    ];
    const functions = new Map(rows.map((row) => [row.module, this.#makeFunction(row)]));
    const invocationRole = this.#makeInvocationRole([...functions.values()]);
    const door = new HttpDoor(this, 'Door', { context, routes: agentRoutes, functions, invocationRole });
    const stage = channel.serve({
      connect: getResource(functions, connectRow.module),
      disconnect: getResource(functions, disconnectRow.module),
      authorizer: getResource(functions, agentSessionAuthorizer.module),
      invocationRole,
    });
    // Without it no WebSocket API may have a log; HTTP APIs need none.
    if (context.apiLogRole === 'create') stage.node.addDependency(new GatewayAccount(this, 'Logging'));
    shareValue(this, context, { name: 'hints-url', value: hints.url });
    shareValue(this, context, { name: 'hints-api-id', value: hints.apiId });
    this.#tellUrl(context, door);
  }

  /** Losing it loses no data: agents open other sessions. */
  #makeKey(context: Context): Key {
    return new Key(this, 'SessionKey', {
      alias: toResourceName(context, 'agent-sessions'),
      description: 'Signs the sessions of the agents of Busdriver',
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  #makeFunction(row: FunctionRow): LambdaFunction {
    const sharedResources = this.#sharedResources;
    const actions = ['kms:GetPublicKey', ...(row.uses?.includes('signSessions') ? ['kms:Sign'] : [])];
    const made = new ServiceFunction(this, {
      row,
      sharedResources,
      statements: [new PolicyStatement({ actions, resources: [this.#key.keyArn] })],
      environment: {
        [variables.agentKeyArn]: this.#key.keyArn,
        // Neither kind of API streams answers.
        [variables.responseStreaming]: 'false',
        // Agents learn of it when they open a session.
        [variables.hintsUrl]: sharedResources.hints?.url ?? '',
      },
    });
    return made.function;
  }

  #makeInvocationRole(functions: readonly LambdaFunction[]): Role {
    const role = new Role(this, 'Invocation', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    });
    for (const resources of splitArns(functions.map(({ functionArn }) => functionArn)))
      role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    return role;
  }

  #tellUrl(context: Context, { api, stage }: HttpDoor): void {
    const { agentsDomainName: domainName, agentsCertificateArn: certificateArn } = context;
    const description = 'busdriver.url of agents';
    if (domainName === undefined || certificateArn === undefined) {
      new CfnOutput(this, 'AgentsUrl', { description, value: api.attrApiEndpoint });
      return;
    }
    new CfnOutput(this, 'AgentsUrl', { description, value: `https://${domainName}` });
    new AgentsDomain(this, 'Domain', {
      ...{ domainName, certificateArn, stage },
      trustStore: context.agentsTrustStore,
    });
  }
}
