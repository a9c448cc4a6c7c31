import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { closeServer, listenLocally } from '../network/local-server.ts';

/** A server of a cluster's public keys, over HTTPS. Disposing stops it. */
export interface JwksServer extends AsyncDisposable {
  readonly url: string;
  /** PEM of the certificate that signed its own. */
  readonly authority: string;
  /** How it answers; at first with no keys. */
  answer: RequestListener;
  /** Has it answer with these keys. */
  serve(keys: readonly object[]): void;
  /** Requests so far. */
  readonly requests: number;
}

/** Starts one at this machine. */
export async function startJwksServer(): Promise<JwksServer> {
  const authority = new CertificateAuthority('clusters');
  const { certificate: cert, key } = authority.issue({ commonName: 'cluster', hosts: ['127.0.0.1'] });
  let requests = 0;
  const server = createServer({ cert, key }, (request, response) => {
    requests += 1;
    started.answer(request, response);
  });
  const port = await listenLocally(server);
  const started: JwksServer = {
    url: `https://127.0.0.1:${port}/openid/v1/jwks`,
    authority: authority.certificate,
    answer: (_request, response) => response.end('{"keys":[]}'),
    serve(keys) {
      started.answer = (_request, response) => response.end(JSON.stringify({ keys }));
    },
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
  return started;
}
