import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import type { Services } from '#platform/services/services.ts';

/** A Lambda function that API Gateway asks whether a request may pass. */
export type AuthorizerFunction = ServiceFunction<
  (
    event: Pick<APIGatewayRequestAuthorizerEvent, 'methodArn' | 'headers'>,
  ) => Promise<APIGatewayAuthorizerResult>
>;

/**
 * Makes a Lambda function from an authorizer's logic, which receives the bearer token of the request.
 *
 * The function rejects with API Gateway's own text for status 401 when the token is missing or refused, and with another error, with which
 * API Gateway admits nobody either, when it could not check it.
 */
export function authorizerHandler<C>(
  open: (services: Services) => C | Promise<C>,
  check: (token: string, services: C) => Promise<boolean>,
): AuthorizerFunction {
  return makeFunction((all) => async ({ methodArn, headers }) => {
    const token = findToken(headers);
    if (token === undefined || !(await check(token, await open(all)))) throw new Error('Unauthorized');
    return allowAll(methodArn);
  });
}

/** The bearer token of a request; undefined where there is none. */
export function findToken(headers: APIGatewayRequestAuthorizerEvent['headers']): string | undefined {
  const [, value] =
    Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  return /^Bearer +(\S+)$/i.exec(value ?? '')?.[1];
}

/** API Gateway caches the answer by the header's value, whatever route comes next: it must hold for every route. */
function allowAll(methodArn: string): APIGatewayAuthorizerResult {
  const [api, stage] = methodArn.split('/');
  return {
    principalId: 'spinnaker',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: `${api}/${stage}/*/*` }],
    },
  };
}
