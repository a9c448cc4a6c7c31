import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { findToken } from '#access/http/authorizer-handler.ts';
import { ConfigurationError, UnauthenticatedError } from '#core/errors.ts';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import type { Services } from '#platform/services/services.ts';
import { openSessionTokens } from '../services/session-tokens.ts';

/** A Lambda function that API Gateway asks whether an agent may connect. */
export type SessionAuthorizer = ServiceFunction<
  (
    event: Pick<APIGatewayRequestAuthorizerEvent, 'methodArn' | 'headers'>,
  ) => Promise<APIGatewayAuthorizerResult>
>;

/**
 * Makes the Lambda function that lets in who shows a token of a session, and hands the session's id on. Whether the session is still
 * open the next function looks at: this one reads no table.
 *
 * It rejects with API Gateway's own word for status 401 where there is no token or it is refused; with anything else, for which API
 * Gateway lets no agent in either, where it could not find out.
 */
export function makeSessionAuthorizer(): SessionAuthorizer {
  return makeFunction(
    (all) =>
      async ({ methodArn, headers }): Promise<APIGatewayAuthorizerResult> => ({
        principalId: 'agent',
        context: { session: await findSession(all, findToken(headers)) },
        policyDocument: {
          Version: '2012-10-17',
          Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: methodArn }],
        },
      }),
  );
}

async function findSession(all: Services, token: string | undefined): Promise<string> {
  const tokens = openSessionTokens(all);
  if (tokens === undefined) throw new ConfigurationError('no key is configured for the sessions of agents');
  if (token === undefined) throw new Error('Unauthorized');
  try {
    return await tokens.verify(token);
  } catch (error) {
    if (error instanceof UnauthenticatedError) throw new Error('Unauthorized', { cause: error });
    throw error;
  }
}
