import { Annotations, CfnOutput, Stack } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { sharedSecretAuthorizer } from '#functions/authorizers.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { type Route, routes } from '#functions/routes.ts';
import { variables } from '#platform/config.ts';
import { type EndpointReference, findEndpoints } from '../constructs/api-endpoints.ts';
import { FrontDoor, type FrontDoorProps } from '../constructs/front-door.ts';
import { readSecret } from '../constructs/grants.ts';
import { PrivateDomain } from '../constructs/private-domain.ts';
import { PublicDomain } from '../constructs/public-domain.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { createSharedResources, type SharedResources } from '../constructs/shared-resources.ts';
import type { Authentication, Context } from '../context/context.ts';
import { decideAuthentication } from '../context/context-rules.ts';
import { ControllerStack } from './controller-stack.ts';

/** The API: a function for each route behind one REST API. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, { context }: { readonly context: Context }) {
    super(scope, id, { description: 'Busdriver: the API and its functions' });
    const sharedResources = createSharedResources(this, context);
    if (context.vpcEndpointId !== undefined) {
      const words =
        'vpcEndpointId goes with the next release. Name the endpoint in vpcEndpointIds: docs/deploy.md.';
      Annotations.of(this).addWarningV2('busdriver:vpcEndpointId', words);
    }
    const endpoints = findEndpoints(this, context);
    const authentication = decideAuthentication(context) ?? 'none';
    // Operators of agents ask at this door, where callers are known: that of agents is open to the internet.
    const served = context.agents ? [...routes, ...operatorRoutes] : routes;
    const door = new FrontDoor(this, 'FrontDoor', {
      context,
      routes: served,
      functions: this.#makeFunctions(served, sharedResources),
      endpoints,
      authentication,
      authorizer: this.#makeAuthorizer(sharedResources, authentication),
    });
    this.#addDomain(door, context, endpoints);
  }

  #makeFunctions(served: readonly Route[], sharedResources: SharedResources): ReadonlyMap<string, IFunction> {
    const controllers = Map.groupBy(served, getController);
    const stacks = [...controllers].map(
      ([name, rows]) => new ControllerStack(this, name, { routes: rows, sharedResources }),
    );
    return new Map(stacks.flatMap(({ functions }) => [...functions]));
  }

  #makeAuthorizer(
    sharedResources: SharedResources,
    authentication: Authentication,
  ): FrontDoorProps['authorizer'] {
    if (authentication !== 'secret') return undefined;
    const { authorizerSecretArn, context } = sharedResources;
    const row = sharedSecretAuthorizer;
    // An operator who names their own secret lets functions use its key, if it has one.
    const statements =
      context.authorizerSecretArn === undefined
        ? readSecret(sharedResources, authorizerSecretArn)
        : [
            new PolicyStatement({
              actions: ['secretsmanager:GetSecretValue'],
              resources: [authorizerSecretArn],
            }),
          ];
    const environment = { [variables.authorizerSecretArn]: authorizerSecretArn };
    const made = new ServiceFunction(this, { row, sharedResources, environment, statements });
    return { function: made.function, lifetimeSeconds: row.lifetimeSeconds };
  }

  #addDomain({ api }: FrontDoor, context: Context, endpoints: readonly EndpointReference[]): void {
    const { domainName, certificateArn } = context;
    const description = 'Base URL of Clouddriver for Spinnaker';
    if (domainName === undefined || certificateArn === undefined) {
      new CfnOutput(this, 'BaseUrl', { description, value: this.#toDefaultUrl(api, endpoints) });
      return;
    }
    new CfnOutput(this, 'BaseUrl', { description, value: `https://${domainName}` });
    const props = { domainName, certificateArn, api, context };
    if (context.publicApi) new PublicDomain(this, 'Domain', props);
    else new PrivateDomain(this, 'Domain', { ...props, endpoints });
  }

  /** Good for a look, and no more: Orca drops the path of its base URL. */
  #toDefaultUrl(api: SpecRestApi, endpoints: readonly EndpointReference[]): string {
    Annotations.of(this).addWarningV2(
      'busdriver:noDomainName',
      'Without domainName and certificateArn the base URL has a stage in its path, which Orca drops.',
    );
    const own = endpoints.find(({ account }) => account === undefined);
    const host = own ? `${api.restApiId}-${own.id}` : api.restApiId;
    return `https://${host}.execute-api.${this.region}.${this.urlSuffix}/${api.deploymentStage.stageName}`;
  }
}

/** `api/tasks/get-task` is of `tasks`, `operators/list-agents` of `operators`. */
function getController({ module }: Route): string {
  return module.split('/').at(-2) ?? module;
}
