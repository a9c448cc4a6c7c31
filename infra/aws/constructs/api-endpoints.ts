import type { Stack } from 'aws-cdk-lib';
import { InterfaceVpcEndpoint, type IVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, Effect, type IPrincipal, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { ApiEndpoint, Context } from '../context/context.ts';
import { listEndpoints, makesEndpoint } from '../context/context-rules.ts';
import { readSharedValue } from './shared-values.ts';

/** An interface endpoint through which the API answers, as the stack of the API refers to it. */
export interface EndpointReference extends ApiEndpoint {
  /** Id of the construct of its association with a private name. It must stay as it is for the same endpoint. */
  readonly association: string;
}

/**
 * The endpoints of the operator, and the one of the network stack; none for a public API.
 *
 * @param stack one of the topmost; where an endpoint is made it must depend on the network stack
 */
export function findEndpoints(stack: Stack, context: Context): readonly EndpointReference[] {
  if (context.publicApi) return [];
  const named = listEndpoints(context).map((endpoint) => ({
    ...endpoint,
    // The only endpoint that there was, under its former name: CloudFormation would make a second one beside it.
    association: context.vpcEndpointId === undefined ? `Access-${endpoint.id}` : 'Access',
  }));
  if (!makesEndpoint(context)) return named;
  const id = readSharedValue(stack, context, 'api-endpoint-id');
  return [{ id, account: undefined, association: 'Access' }, ...named];
}

/** Those of the stacks' own account, to associate them with the API: names that lead to both follow from it. */
export function listOwnEndpoints(scope: Construct, endpoints: readonly EndpointReference[]): IVpcEndpoint[] {
  return endpoints
    .filter(({ account }) => account === undefined)
    .map(({ id }, index) =>
      InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(scope, `Endpoint${index}`, {
        vpcEndpointId: id,
        port: 443,
      }),
    );
}

/** The callers may call, but only through the endpoints. */
export function toEndpointPolicy(
  endpoints: readonly EndpointReference[],
  callers: readonly IPrincipal[] = [new AnyPrincipal()],
): PolicyDocument {
  const policy = allowCalls(callers);
  const [first, ...more] = endpoints.map(({ id }) => id);
  policy.addStatements(
    new PolicyStatement({
      ...everyCall,
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      conditions: { StringNotEquals: { 'aws:SourceVpce': more.length === 0 ? first : [first, ...more] } },
    }),
  );
  return policy;
}

/** The callers may call. */
export function allowCalls(callers: readonly IPrincipal[]): PolicyDocument {
  return new PolicyDocument({
    statements: [new PolicyStatement({ ...everyCall, principals: [...callers] })],
  });
}

const everyCall = { actions: ['execute-api:Invoke'], resources: ['execute-api:/*'] };
