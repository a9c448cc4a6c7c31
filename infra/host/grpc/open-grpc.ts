import { agentRoutes } from '../../../functions/agent-routes.ts';
import type { JsonObject } from '../../../shared/core/json.ts';
import type { Logger } from '../../../shared/core/logger.ts';
import { parseAgentSettings } from '../../../shared/core/settings/agent-settings.ts';
import type { Invoker } from '../../local/invoker.ts';
import type { GrpcServer } from './grpc-server.ts';
import { parseGrpcSettings } from './grpc-settings.ts';

/** What gRPC is opened with. */
export interface OpenGrpcOptions {
  readonly settings: JsonObject;
  readonly invoker: Pick<Invoker, 'invoke'>;
  readonly log: Logger;
  /** Milliseconds that calls under way get when it is disposed of. */
  readonly shutdownTimeoutMs: number;
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
