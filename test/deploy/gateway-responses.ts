import { toGatewayResponses } from '#infra/aws/constructs/gateway-responses.ts';
import { callRest } from './aws-calls.ts';

/** What API Gateway would put in the place of its variable. The emulator leaves the name. */
const requestTime = '21/Nov/2026:06:15:35 +0000';

/**
 * Gives an API its own answers. The emulator knows them, but passes over the part of the OpenAPI document in which they stand:
 * here they are put one by one, as the stacks have them, and the stage `live` gets a deployment with them.
 */
export async function putGatewayResponses(endpoint: string, apiId: string): Promise<void> {
  const text = JSON.stringify(
    toGatewayResponses({ responseStreaming: false, publicApi: false, authentication: 'secret' }),
  );
  const responses: { [type: string]: object } = JSON.parse(
    text.replaceAll('$context.requestTime', requestTime),
  );
  for (const [type, input] of Object.entries(responses)) {
    const path = `/restapis/${apiId}/gatewayresponses/${type}`;
    await callRest(endpoint, { service: 'apigateway', method: 'PUT', path, input });
  }
  const path = `/restapis/${apiId}/deployments`;
  await callRest(endpoint, { service: 'apigateway', method: 'POST', path, input: { stageName: 'live' } });
}
