import type { Route } from '../../functions/routes.ts';
import type { OpenApiDocument, OpenApiOperation } from '../open-api.ts';
import { toGatewayResponses } from './gateway-responses.ts';

/** What the document of an API is made of. */
export interface GatewayDocumentProps {
  /** Describes the API; of it, API Gateway gets paths, methods and path parameters. */
  readonly document: OpenApiDocument;
  readonly routes: readonly Route[];
  /** ARN of the function of a module. */
  getFunctionArn(module: string): string;
  /** ARN of the role under which API Gateway calls functions. */
  readonly invocationRoleArn: string;
  /** The beginning of the ARN by which API Gateway calls any function, up to the function's own. */
  readonly invocationPrefix: string;
  /** Decides who may call. Default: everybody who reaches the API. */
  readonly authorizer?: GatewayAuthorizer | undefined;
}

/** A function that decides who may call. */
export interface GatewayAuthorizer {
  readonly functionArn: string;
  /** Seconds for which what it decided about a header's value holds. */
  readonly lifetimeSeconds: number;
}

/** API Gateway waits no longer for a function, seconds, unless its quota is raised. */
export const integrationTimeoutSeconds = 29;

const advice = 'run npm run openapi';

/** Name of the authorizer within the document. */
const schemeName = 'sharedSecret';

/**
 * The document from which API Gateway makes the API. It is less than the one for people: API Gateway would turn every schema
 * into a model, of which it allows sixty.
 *
 * @throws Error for a route that the document lacks, and for an operation that is no route.
 */
export function toGatewayDocument(props: GatewayDocumentProps): object {
  const { document, authorizer } = props;
  const routes = new Map(props.routes.map((route) => [`${route.method} ${route.path}`, route]));
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const key = `${method.toUpperCase()} ${path}`;
      const route = routes.get(key);
      if (route === undefined) throw new Error(`docs/openapi.json has ${key}, which is no route: ${advice}`);
      routes.delete(key);
      paths[path] = { ...paths[path], [method]: toGatewayOperation(operation, route, props) };
    }
  }
  if (routes.size > 0) throw new Error(`docs/openapi.json lacks ${[...routes.keys()].join(', ')}: ${advice}`);
  return {
    openapi: '3.0.1',
    info: { title: document.info.title, version: document.info.version },
    paths,
    ...(authorizer && { components: { securitySchemes: { [schemeName]: toScheme(authorizer, props) } } }),
    'x-amazon-apigateway-gateway-responses': toGatewayResponses(),
  };
}

function toGatewayOperation(
  operation: OpenApiOperation,
  { module }: Route,
  props: GatewayDocumentProps,
): object {
  const { operationId, parameters = [] } = operation;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  return {
    operationId,
    parameters: inPath.map(({ name }) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
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
