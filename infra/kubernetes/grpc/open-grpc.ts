import type { JsonObject } from '#core/json.ts';
import { agentRoutes } from '#functions/agent-routes.ts';
import { parseAgentSettings } from '#settings/agent-settings.ts';
import type { GrpcServer, StartGrpcOptions } from './grpc-server.ts';
import { parseGrpcSettings } from './grpc-settings.ts';

/** What gRPC is opened with. */
export interface OpenGrpcOptions extends Omit<StartGrpcOptions, 'settings' | 'routes'> {
  readonly settings: JsonObject;
}

/**
 * Serves agents over gRPC, where there are any; else nothing of it is even loaded.
 *
 * @throws InvalidInputError that names the setting and what it takes; Error for an address that cannot be bound, or a file of TLS
 */
export async function openGrpc(options: OpenGrpcOptions): Promise<GrpcServer | undefined> {
  if (!parseAgentSettings(options.settings).enabled) return undefined;
  const settings = parseGrpcSettings(options.settings);
  if (settings === undefined) return undefined;
  const { startGrpc } = await import('./grpc-server.ts');
  return startGrpc({ ...options, settings, routes: agentRoutes });
}
