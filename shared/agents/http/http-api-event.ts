import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * As much of an event of an HTTP API, in payload format 2.0, as is read here ("Working with AWS Lambda proxy integrations for HTTP APIs").
 * Values of a header that came several times are joined by commas; the body is base64 unless its type is known to be text.
 */
export interface HttpApiEvent {
  readonly version: '2.0';
  /** `POST /agent/v1/sessions/{session}` */
  readonly routeKey: string;
  /** The path as it came, decoded. */
  readonly rawPath: string;
  readonly rawQueryString?: string;
  /** By names in lower case. */
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly pathParameters?: { readonly [name: string]: string | undefined } | null;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly requestId?: string;
    readonly stage?: string;
    readonly http: { readonly method: string; readonly sourceIp?: string; readonly userAgent?: string };
    /** Of a route behind IAM: who signed the request. */
    readonly authorizer?: { readonly iam?: { readonly userArn?: string; readonly accountId?: string } };
    /** Of a domain with mutual TLS. */
    readonly authentication?: { readonly clientCert?: object } | null;
  };
}

/** An event of an HTTP API in the form of a REST API's, which functions read; one of a REST API as it is. */
export function toRestEvent(event: APIGatewayProxyEvent | HttpApiEvent): APIGatewayProxyEvent {
  if (!('version' in event) || event.version !== '2.0') return event as APIGatewayProxyEvent;
  const { routeKey, rawPath, rawQueryString = '', headers = {}, requestContext: context } = event;
  const [httpMethod = '', resource = ''] = routeKey.split(' ');
  const query = Map.groupBy(new URLSearchParams(rawQueryString), ([name]) => name);
  const lists = [...query].map(([name, entries]) => [name, entries.map(([, value]) => value)] as const);
  const { http, authorizer, authentication } = context;
  const identity = {
    sourceIp: http.sourceIp ?? '',
    userAgent: http.userAgent ?? null,
    userArn: authorizer?.iam?.userArn ?? null,
    accountId: authorizer?.iam?.accountId ?? null,
    clientCert: authentication?.clientCert ?? null,
  };
  const rest = {
    ...{ httpMethod, resource, path: rawPath, headers },
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: Object.fromEntries(lists.map(([name, values]) => [name, values.at(-1)])),
    multiValueQueryStringParameters: Object.fromEntries(lists),
    pathParameters: event.pathParameters ?? null,
    stageVariables: null,
    body: event.body ?? null,
    isBase64Encoded: event.isBase64Encoded ?? false,
    requestContext: { requestId: context.requestId, stage: context.stage, httpMethod, identity },
  };
  // Nothing reads more of it: what an HTTP API does not have stays out.
  return rest as unknown as APIGatewayProxyEvent;
}
