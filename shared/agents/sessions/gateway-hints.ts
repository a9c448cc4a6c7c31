import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { getErrorMessage } from '#core/errors.ts';
import { limitCalls } from '#platform/aws/call-limit.ts';
import { createGatewayConnections } from '#platform/aws/gateway-connections.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import type { AgentConnection, Hint } from '../agent-connections.ts';
import { toWorkFrame } from '../protocol/hint-frames.ts';

/** Milliseconds of a call, which is made once: a hint that is lost costs the time until the agent asks again. */
const callMs = 1_000;

/** Tells one connection, and answers what became of it. */
export type PostHint = (connection: AgentConnection, hint: Hint) => Promise<'delivered' | 'gone' | 'failed'>;

/** Sender of hints to connections of API Gateway, made once. */
export function openGatewayHints(services: Services): PostHint {
  return services.get(createGatewayHints);
}

function createGatewayHints(services: Services): PostHint {
  const { config, log } = openBase(services);
  const client = new ApiGatewayManagementApiClient({
    // Calls go to the address of the connections: `wss://…/live`.
    endpoint: (config.hintsUrl ?? '').replace(/^ws/, 'http'),
    maxAttempts: 1,
    requestHandler: { connectionTimeout: callMs, requestTimeout: callMs, throwOnRequestTimeout: true },
  });
  services.closeLater(() => client.destroy());
  const connections = createGatewayConnections(limitCalls(client, { callMs, clock: systemClock }));
  return async ({ id, account, agentId }, hint) => {
    try {
      const isThere = await connections.post(id, toWorkFrame(hint));
      if (isThere && hint.kind === 'CLOSE') await connections.end(id);
      return isThere ? 'delivered' : 'gone';
    } catch (error) {
      log.warn('a hint could not be sent to an agent', { account, agentId, reason: getErrorMessage(error) });
      return 'failed';
    }
  };
}
