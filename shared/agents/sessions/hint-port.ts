import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentConnection, Hint } from '../agent-connections.ts';

/** The outcome of a hint. `gone`: the connection is there no more, and its row may go. */
export type HintDelivery = 'delivered' | 'gone' | 'failed';

/** How hints reach agents: each home of the functions has its own way. */
export interface HintPort {
  /** The address to which agents connect: an absolute URL, or a path of the API. */
  readonly url: string;
  /** Tells the connections that end in this process. Default: there are none. @returns whether there was one */
  deliver?(hint: Hint): boolean;
  /** Tells a connection of the table. Default: all end in this process, and the table is not asked. It takes a second at most. */
  post?(connection: AgentConnection, hint: Hint): Promise<HintDelivery>;
}

/** Has hints go that way from now on. */
export function bindHintPort(services: Services, port: HintPort): void {
  services.get(createSwitch).port = port;
}

/** The port that is bound, if any. */
export function findHintPort(services: Services): HintPort | undefined {
  return services.get(createSwitch).port;
}

/** The address to which agents connect; empty where they cannot. */
export function getHintUrl(services: Services): string {
  return findHintPort(services)?.url ?? '';
}

function createSwitch(services: Services): { port: HintPort | undefined } {
  return { port: findGatewayPort(services) };
}

/** By API Gateway, when deployed so. Its client is loaded with the first hint. */
function findGatewayPort(services: Services): HintPort | undefined {
  const { hintsUrl: url } = openBase(services).config;
  if (url === undefined) return undefined;
  return {
    url,
    async post(connection, hint) {
      const { openGatewayHints } = await import('./gateway-hints.ts');
      return openGatewayHints(services)(connection, hint);
    },
  };
}
