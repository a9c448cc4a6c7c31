import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listenLocally } from '../network/local-server.ts';

/** A request that reached it. */
export interface ClouddriverCall {
  readonly method: string | undefined;
  /** As it came, with its query. */
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server on this machine in the place of a Clouddriver, for what no real one does when it should. */
export interface Clouddriver extends AsyncDisposable {
  /** For `busdriver.upstream.baseUrl`. */
  readonly url: string;
  /** Requests whose body has arrived, in order. */
  readonly calls: ClouddriverCall[];
  /** Answers. Default: `[]`. */
  answer: RequestListener;
}

/** Starts it. */
export async function startClouddriver(): Promise<Clouddriver> {
  const calls: ClouddriverCall[] = [];
  const server = createServer({ maxHeaderSize: 64 << 10 }, async (request, response) => {
    const { method, url: path, headers } = request;
    calls.push({ method, path, headers, body: await text(request) });
    clouddriver.answer(request, response);
  });
  const port = await listenLocally(server);
  const clouddriver: Clouddriver = {
    url: `http://127.0.0.1:${port}`,
    calls,
    answer: (_, response) => void response.setHeader('content-type', 'application/json').end('[]'),
    [Symbol.asyncDispose]: () => closeServer(server),
  };
  return clouddriver;
}
