import type { Route } from '#functions/routes.ts';
import { type GatewayOptions, toGatewayResponses } from './gateway-responses.ts';

/** What the document of an API is made of. */
export interface GatewayDocumentProps extends GatewayOptions {
  readonly routes: readonly Route[];
  /** ARN of the function of a module. */
  getFunctionArn(module: string): string;
  /** ARN of the role under which API Gateway calls functions. */
  readonly invocationRoleArn: string;
  /** Prefix of the path of Lambda's API in the ARN by which API Gateway calls a function. */
  readonly invocationPrefix: string;
  /** Decides who may call, with `secret`; undefined with anything else. */
  readonly authorizer: GatewayAuthorizer | undefined;
}

/** A function that decides who may call. */
export interface GatewayAuthorizer {
  readonly functionArn: string;
  /** Seconds for which what it decided about a header's value holds. */
  readonly lifetimeSeconds: number;
}

/** API Gateway waits no longer for an answer in one piece, seconds, unless its quota is raised. */
const bufferedTimeoutSeconds = 29;

/** Seconds that a function may run behind API Gateway: who called has been told by then that one in one piece failed. */
export function limitTimeout({ timeoutSeconds }: Route, responseStreaming: boolean): number {
  return responseStreaming ? timeoutSeconds : Math.min(timeoutSeconds, bufferedTimeoutSeconds);
}

/** The security scheme of every route, by its name within the document; undefined where everybody may call. */
function findScheme(props: GatewayDocumentProps): readonly [name: string, scheme: object] | undefined {
  if (props.authentication === 'iam') return ['signature', signatureScheme];
  return props.authorizer && ['sharedSecret', toScheme(props.authorizer, props)];
}

/** AWS Signature Version 4, by API Gateway itself: the type of authorization `AWS_IAM`. */
const signatureScheme = {
  type: 'apiKey',
  name: 'Authorization',
  in: 'header',
  'x-amazon-apigateway-authtype': 'awsSigv4',
};

/**
 * The document from which API Gateway makes the API, in OpenAPI 3.0 with its own extensions. It has paths and methods, and none
 * of the schemas of the document for people: docs/decisions/0013-openapi-3-1-and-a-skeleton.md says why.
 */
export function createGatewayDocument(props: GatewayDocumentProps): object {
  const { routes } = props;
  const scheme = findScheme(props);
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route, props) };
  }
  return {
    openapi: '3.0.1',
    info: { title: 'Clouddriver, by Busdriver', version: '1' },
    paths,
    ...(scheme && { components: { securitySchemes: Object.fromEntries([scheme]) } }),
    'x-amazon-apigateway-gateway-responses': toGatewayResponses(props),
  };
}

function toOperation(route: Route, props: GatewayDocumentProps): object {
  const { path } = route;
  const scheme = findScheme(props);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return {
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    responses: { '200': { description: 'As Clouddriver answers' } },
    ...(scheme && { security: [{ [scheme[0]]: [] }] }),
    'x-amazon-apigateway-integration': {
      type: 'aws_proxy',
      httpMethod: 'POST',
      credentials: props.invocationRoleArn,
      ...toTransfer(route, props),
    },
  };
}

/** How the function is called, and how its answer comes back. A streamed one is waited for until the function itself gives up. */
function toTransfer({ module, timeoutSeconds }: Route, props: GatewayDocumentProps): object {
  const functionArn = props.getFunctionArn(module);
  if (!props.responseStreaming) {
    return { uri: toUri(functionArn, props), timeoutInMillis: bufferedTimeoutSeconds * 1000 };
  }
  const seconds = Math.max(bufferedTimeoutSeconds, timeoutSeconds + 1);
  return {
    uri: `${props.invocationPrefix}/2021-11-15/functions/${functionArn}/response-streaming-invocations`,
    responseTransferMode: 'STREAM',
    timeoutInMillis: seconds * 1000,
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
  return `${invocationPrefix}/2015-03-31/functions/${functionArn}/invocations`;
}
