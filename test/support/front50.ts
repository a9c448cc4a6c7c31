import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../shared/core/json.ts';

/** A server on this machine that plays Front50. */
export interface Front50 extends AsyncDisposable {
  /** For `services.front50.baseUrl`. */
  readonly url: string;
  /** Paths with queries, in the order in which they were asked for. */
  readonly asked: readonly string[];
  applications: JsonObject[];
  projects: JsonObject[];
  /** Answers instead, while it is there. */
  instead: RequestListener | undefined;
}

/** Starts Front50 with these applications and projects. */
export async function startFront50(
  content: { readonly applications?: JsonObject[]; readonly projects?: JsonObject[] } = {},
): Promise<Front50> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (front50.instead !== undefined) return front50.instead(request, response);
    const lists: { readonly [path: string]: readonly JsonObject[] } = {
      '/v2/applications?restricted=false': front50.applications,
      '/v2/projects': front50.projects,
    };
    const list = lists[request.url ?? ''];
    response.writeHead(list ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(list));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front50: Front50 = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    applications: content.applications ?? [],
    projects: content.projects ?? [],
    instead: undefined,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return front50;
}
