import { retryAfterSeconds } from '#core/request-limits.ts';
import { toTooLargeMessage } from '#tasks/payload-limit.ts';
import type { Authentication } from '../context/context.ts';

/** An answer that API Gateway gives without asking a function. */
interface GatewayResponse {
  /** The status that callers see. */
  readonly status: number;
  /** HTTP's phrase for it. */
  readonly error: string;
  /** What is wrong, for people. */
  readonly message: string;
}

const denied = { status: 403, error: 'Forbidden', message: 'Access denied' };
const invalid = { status: 400, error: 'Bad Request', message: 'The request is malformed' };
const noRoute = { status: 404, error: 'Not Found', message: 'No route for this method and path' };
/** API Gateway does not distinguish a request without a signature from one of a path that does not exist. */
const notSigned = {
  ...noRoute,
  message: 'No route for this method and path, or the request is not signed with AWS Signature Version 4',
};
const unauthorized = {
  status: 401,
  error: 'Unauthorized',
  message: 'The Authorization header must be Bearer and the shared secret',
};
const unsupported = {
  status: 415,
  error: 'Unsupported Media Type',
  message: 'The content type is not supported',
};

/** 503 and no other status: it is the only one on which Orca sends a POST again. */
const unavailable = {
  status: 503,
  error: 'Service Unavailable',
  message: 'The function could not be run, or did not answer in time; try again',
};
const throttled = { ...unavailable, message: 'Too many requests at once; try again' };

/**
 * What API Gateway answers by the name of its response. A path or a method that does not exist looks to it like a call without
 * a token. Those that are not named here fall back to the two defaults.
 */
const responses: { readonly [type: string]: GatewayResponse } = {
  ACCESS_DENIED: denied,
  API_CONFIGURATION_ERROR: unavailable,
  AUTHORIZER_CONFIGURATION_ERROR: unavailable,
  AUTHORIZER_FAILURE: unavailable,
  BAD_REQUEST_BODY: invalid,
  BAD_REQUEST_PARAMETERS: invalid,
  DEFAULT_4XX: invalid,
  DEFAULT_5XX: unavailable,
  EXPIRED_TOKEN: denied,
  INTEGRATION_FAILURE: unavailable,
  INTEGRATION_TIMEOUT: unavailable,
  INVALID_API_KEY: denied,
  INVALID_SIGNATURE: denied,
  QUOTA_EXCEEDED: throttled,
  RESOURCE_NOT_FOUND: noRoute,
  THROTTLED: throttled,
  UNAUTHORIZED: unauthorized,
  UNSUPPORTED_MEDIA_TYPE: unsupported,
  WAF_FILTERED: denied,
};

const headers = {
  'gatewayresponse.header.Content-Type': "'application/json;charset=UTF-8'",
  'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
};
const retryHeaders = { ...headers, 'gatewayresponse.header.Retry-After': `'${retryAfterSeconds}'` };

/** What the responses depend on. */
export interface GatewayOptions {
  /** Whether functions stream their answers. */
  readonly responseStreaming: boolean;
  /** Whether the API answers to the internet. A private API takes shorter headers than a public one ("Quotas for configuring and running a REST API"). */
  readonly publicApi: boolean;
  /** How callers prove who they are. */
  readonly authentication: Authentication;
}

/** API Gateway does not say what of a request it was. Bodies reach functions as text where answers are streamed, else in base64. */
function toTooLarge({ responseStreaming, publicApi }: GatewayOptions): GatewayResponse {
  const body = responseStreaming ? 'its body' : 'its body of more than 4.5 MB, in base64,';
  const message = toTooLargeMessage(
    `its line and headers exceed ${publicApi ? '10,240' : '8,000'} bytes, or ${body} exceeds`,
  );
  return { status: 413, error: 'Payload Too Large', message };
}

/** The responses as the OpenAPI extension `x-amazon-apigateway-gateway-responses` has them, with Clouddriver's error body. */
export function toGatewayResponses(options: GatewayOptions): object {
  const missing = options.authentication === 'iam' ? notSigned : noRoute;
  const all = {
    ...responses,
    MISSING_AUTHENTICATION_TOKEN: missing,
    REQUEST_TOO_LARGE: toTooLarge(options),
  };
  const entries = Object.entries(all).map(([type, { status, ...words }]) => {
    // Templates of responses know no other clock than this one.
    const body = JSON.stringify({ timestamp: '$context.requestTime', status, ...words });
    return [
      type,
      {
        statusCode: String(status),
        responseParameters: status === unavailable.status ? retryHeaders : headers,
        responseTemplates: { 'application/json': body },
      },
    ];
  });
  return Object.fromEntries(entries);
}
