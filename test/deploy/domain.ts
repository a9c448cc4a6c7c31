import {
  Agent,
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands behind a domain. */
export interface DomainOptions {
  /** Endpoint of the emulator. */
  readonly endpoint: string;
  /** Name of the domain, as API Gateway knows it. Undefined: the API is reached by its id. */
  readonly domainName: string | undefined;
  /** Id of the REST API that the domain is mapped to. */
  readonly apiId: string;
  /** What callers send as `Authorization: Bearer …` unless they send that header themselves. */
  readonly sharedSecret: string;
}

/** Stands for the name service: leads from an address of this machine to the domain. */
export interface Domain extends AsyncDisposable {
  /** Base URL, without a path: what Spinnaker's `services.clouddriver.baseUrl` would be. */
  readonly url: string;
}

/**
 * The emulator keeps this path for itself under every name, so that it is reached by the API's id. The API has one stage, `live`.
 */
const keptPath = '/health';

/** Starts it on a free port of 127.0.0.1. */
export async function startDomain(options: DomainOptions): Promise<Domain> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => passOn({ request, response, agent, options }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

interface Passage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly agent: Agent;
  readonly options: DomainOptions;
}

function passOn({ request, response, agent, options }: Passage): void {
  const { endpoint, domainName, apiId, sharedSecret } = options;
  const { method, url = '/', headers } = request;
  const isById = domainName === undefined || url.split('?')[0] === keptPath;
  const path = isById ? `/restapis/${apiId}/live/_user_request_${url}` : url;
  const { hostname, port, host } = new URL(endpoint);
  const passed = requestHttp({
    ...{ hostname, port, method, path, agent },
    headers: { authorization: `Bearer ${sharedSecret}`, ...headers, host: isById ? host : domainName },
  });
  passed.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}
