import type { AgentTransport } from './config/agent-config.ts';
import { type HubAccess, type HubClient, openHubClient } from './hub/hub-client.ts';

/** Opens what calls Busdriver: over gRPC, which is loaded only then, or over HTTP. @throws Error for files of TLS that are of no use */
export async function openHub(
  place: HubAccess & { readonly transport: AgentTransport },
): Promise<Pick<HubClient, 'call' | 'connect'> & AsyncDisposable> {
  if (place.transport !== 'grpc') return openHubClient(place);
  const { openGrpcHubClient } = await import('./hub/grpc-hub-client.ts');
  return openGrpcHubClient(place);
}
