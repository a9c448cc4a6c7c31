import { createServer } from 'node:http';
import { closeServer, listenLocally } from '../network/local-server.ts';

/**
 * What becomes of calls: answered; answered never; 500; no JSON; no token; an answer without an end. Arcade itself answers 400 for an
 * unknown provider, and 403 for a wrong key.
 */
export type BrokerMode = 'up' | 'silent' | '500' | 'no-json' | 'no-token' | 'huge';

/** A server on this machine that speaks Arcade's contract. */
export interface TestBroker extends AsyncDisposable {
  readonly url: string;
  /** Providers that were asked for, in order, those refused too. */
  readonly calls: readonly string[];
  mode: BrokerMode;
  apiKey: string;
  /** The token of each provider. */
  readonly providers: Map<string, () => string | Promise<string>>;
}

/** Starts a broker with the provider `google`. @param token what it gives */
export async function startTokenBroker(token: () => string | Promise<string>): Promise<TestBroker> {
  const calls: string[] = [];
  const providers = new Map([['google', token]]);
  const server = createServer(async ({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://broker');
    const provider = searchParams.get('provider') ?? 'google';
    calls.push(provider);
    const send = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    if (pathname !== '/tokens') return send(404, '{"error":"not found"}');
    if (headers['api-key'] !== broker.apiKey) return send(403, `{"error":"bad key ${headers['api-key']}"}`);
    const give = providers.get(provider);
    if (give === undefined) return send(400, `{"error":"Unsupported token provider: ${provider}"}`);
    const given = await give();
    if (broker.mode === 'up') return send(200, JSON.stringify({ token: given }));
    if (broker.mode === '500') return send(500, `{"error":"cannot give ${given}"}`);
    if (broker.mode === 'no-json') return send(200, `token: ${given}`);
    if (broker.mode === 'no-token') return send(200, JSON.stringify({ tokens: given }));
    if (broker.mode === 'huge') return send(200, JSON.stringify({ pad: 'x'.repeat(2 ** 20), token: given }));
  });
  const port = await listenLocally(server);
  const broker: TestBroker = {
    url: `http://127.0.0.1:${port}`,
    calls,
    mode: 'up',
    apiKey: 'test',
    providers,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
  return broker;
}

/** A JSON Web Token of no worth that ends at a time, milliseconds. @param name tells it from others */
export function createTestToken(name: string, expiresAtMs: number): string {
  const claims = { sub: name, exp: Math.floor(expiresAtMs / 1000) };
  const parts = ['{"alg":"none"}', JSON.stringify(claims), 'signature'];
  return parts.map((part) => Buffer.from(part).toString('base64url')).join('.');
}
