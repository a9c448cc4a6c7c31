import { Annotations, CfnOutput, Stack } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { InterfaceVpcEndpoint, type IVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { sharedSecretAuthorizer } from '../../functions/authorizers.ts';
import { type Route, routes } from '../../functions/routes.ts';
import { variables } from '../../shared/runtime/config.ts';
import { FrontDoor, type FrontDoorProps } from '../constructs/front-door.ts';
import { PrivateDomain } from '../constructs/private-domain.ts';
import { PublicDomain } from '../constructs/public-domain.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { readSharedValue } from '../constructs/shared-values.ts';
import { createSurroundings, type Surroundings } from '../constructs/surroundings.ts';
import type { Context } from '../context.ts';
import { makesEndpoint } from '../context-rules.ts';
import { ControllerStack } from './controller-stack.ts';

/** What the stack is made of. */
export interface ApiStackProps {
  readonly context: Context;
}

/** The API: a function for each route behind one REST API. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, { context }: ApiStackProps) {
    super(scope, id, { description: 'Busdriver: the API and its functions' });
    const surroundings = createSurroundings(this, context);
    const endpoint = this.#findEndpoint(context);
    const door = new FrontDoor(this, 'FrontDoor', {
      context,
      routes,
      functions: this.#makeFunctions(surroundings),
      vpcEndpoint: endpoint,
      authorizer: this.#makeAuthorizer(surroundings),
    });
    this.#addDomain(door, surroundings, endpoint);
  }

  /** The endpoint of the operator, or the one of the network stack; undefined for a public API. */
  #findEndpoint(context: Context): IVpcEndpoint | undefined {
    const vpcEndpointId = makesEndpoint(context)
      ? readSharedValue(this, context, 'api-endpoint-id')
      : context.vpcEndpointId;
    if (vpcEndpointId === undefined) return undefined;
    return InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(this, 'Endpoint', {
      vpcEndpointId,
      port: 443,
    });
  }

  #makeFunctions(surroundings: Surroundings): ReadonlyMap<string, IFunction> {
    const controllers = Map.groupBy(routes, getController);
    const stacks = [...controllers].map(
      ([name, rows]) => new ControllerStack(this, name, { routes: rows, surroundings }),
    );
    return new Map(stacks.flatMap(({ functions }) => [...functions]));
  }

  #makeAuthorizer(surroundings: Surroundings): FrontDoorProps['authorizer'] {
    const { authorizerSecretArn } = surroundings.context;
    if (authorizerSecretArn === undefined) return undefined;
    const row = sharedSecretAuthorizer;
    const statements = [
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [authorizerSecretArn] }),
    ];
    const environment = { [variables.authorizerSecretArn]: authorizerSecretArn };
    const made = new ServiceFunction(this, { row, surroundings, environment, statements });
    return { function: made.function, lifetimeSeconds: row.lifetimeSeconds };
  }

  #addDomain({ api }: FrontDoor, { context }: Surroundings, vpcEndpoint: IVpcEndpoint | undefined): void {
    const { domainName, certificateArn } = context;
    const description = 'Base URL of Clouddriver for Spinnaker';
    if (domainName === undefined || certificateArn === undefined) {
      new CfnOutput(this, 'BaseUrl', { description, value: this.#toDefaultUrl(api, vpcEndpoint) });
      return;
    }
    new CfnOutput(this, 'BaseUrl', { description, value: `https://${domainName}` });
    const props = { domainName, certificateArn, api };
    if (vpcEndpoint) new PrivateDomain(this, 'Domain', { ...props, vpcEndpoint });
    else new PublicDomain(this, 'Domain', { ...props, context });
  }

  /** Good for a look, and no more: Orca drops the path of its base URL. */
  #toDefaultUrl(api: SpecRestApi, vpcEndpoint: IVpcEndpoint | undefined): string {
    Annotations.of(this).addWarningV2(
      'busdriver:noDomainName',
      'Without domainName and certificateArn the base URL has a stage in its path, which Orca drops.',
    );
    const host = vpcEndpoint ? `${api.restApiId}-${vpcEndpoint.vpcEndpointId}` : api.restApiId;
    return `https://${host}.execute-api.${this.region}.${this.urlSuffix}/${api.deploymentStage.stageName}`;
  }
}

/** `api/tasks/get-task` is of `tasks`. */
function getController({ module }: Route): string {
  return module.split('/')[1] ?? module;
}
