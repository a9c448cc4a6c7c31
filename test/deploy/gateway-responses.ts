import { toGatewayResponses } from '../../infra/constructs/gateway-responses.ts';
import { callRest } from './aws-calls.ts';

/**
 * Gives an API its own answers. The emulator knows them, but passes over the part of the OpenAPI document in which they stand:
 * here they are put one by one, as the stacks have them, and the stage `live` gets a deployment with them.
 */
export async function putGatewayResponses(endpoint: string, apiId: string): Promise<void> {
  for (const [type, input] of Object.entries<object>({
    ...toGatewayResponses({ responseStreaming: false }),
  })) {
    const path = `/restapis/${apiId}/gatewayresponses/${type}`;
    await callRest(endpoint, { service: 'apigateway', method: 'PUT', path, input });
  }
  const path = `/restapis/${apiId}/deployments`;
  await callRest(endpoint, { service: 'apigateway', method: 'POST', path, input: { stageName: 'live' } });
}
