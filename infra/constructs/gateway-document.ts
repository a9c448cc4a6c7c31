import type { Route } from '../../functions/routes.ts';
import { toGatewayResponses } from './gateway-responses.ts';

/** What the document of an API is made of. */
export interface GatewayDocumentProps {
  readonly routes: readonly Route[];
  /** ARN of the function of a module. */
  getFunctionArn(module: string): string;
  /** ARN of the role under which API Gateway calls functions. */
  readonly invocationRoleArn: string;
  /** What stands before a function's ARN in the one by which API Gateway calls it. */
  readonly invocationPrefix: string;
  /** Decides who may call. Undefined: everybody who reaches the API. */
  readonly authorizer: GatewayAuthorizer | undefined;
}

/** A function that decides who may call. */
export interface GatewayAuthorizer {
  readonly functionArn: string;
  /** Seconds for which what it decided about a header's value holds. */
  readonly lifetimeSeconds: number;
}

/** API Gateway waits no longer for a function, seconds, unless its quota is raised. */
export const integrationTimeoutSeconds = 29;

/** Name of the authorizer within the document. */
const schemeName = 'sharedSecret';

/**
 * The document from which API Gateway makes the API, in OpenAPI 3.0 with its own extensions. It has paths and methods, and none
 * of the schemas of the document for people: docs/decisions/0013-openapi-3-1-and-a-skeleton.md says why.
 */
export function createGatewayDocument(props: GatewayDocumentProps): object {
  const { routes, authorizer } = props;
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route, props) };
  }
  return {
    openapi: '3.0.1',
    info: { title: 'Clouddriver, by Busdriver', version: '1' },
    paths,
    ...(authorizer && { components: { securitySchemes: { [schemeName]: toScheme(authorizer, props) } } }),
    'x-amazon-apigateway-gateway-responses': toGatewayResponses(),
  };
}

function toOperation({ path, module }: Route, props: GatewayDocumentProps): object {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return {
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    responses: { '200': { description: 'As Clouddriver answers' } },
    ...(props.authorizer && { security: [{ [schemeName]: [] }] }),
    'x-amazon-apigateway-integration': {
      type: 'aws_proxy',
      httpMethod: 'POST',
      uri: toUri(props.getFunctionArn(module), props),
      credentials: props.invocationRoleArn,
      timeoutInMillis: integrationTimeoutSeconds * 1000,
    },
  };
}

function toScheme({ functionArn, lifetimeSeconds }: GatewayAuthorizer, props: GatewayDocumentProps): object {
  return {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'custom',
    'x-amazon-apigateway-authorizer': {
      type: 'request',
      identitySource: 'method.request.header.Authorization',
      authorizerUri: toUri(functionArn, props),
      authorizerCredentials: props.invocationRoleArn,
      authorizerResultTtlInSeconds: lifetimeSeconds,
    },
  };
}

function toUri(functionArn: string, { invocationPrefix }: GatewayDocumentProps): string {
  return `${invocationPrefix}/${functionArn}/invocations`;
}
