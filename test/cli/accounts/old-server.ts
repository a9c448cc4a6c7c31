import { createServer } from 'node:http';
import type { JsonObject } from '#core/json.ts';
import { listen } from '#test/support/network/listening.ts';

/** A server with accounts that are imported, as Clouddriver's account storage and go-clouddriver answer. */
export interface OldServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly string[];
  /** What requests proved who asks with. */
  readonly tokens: ReadonlySet<string | undefined>;
}

/** Starts one. @param accounts definitions, sorted by name; providers of go-clouddriver are the same list */
export async function startOldServer(accounts: readonly JsonObject[]): Promise<OldServer> {
  const requests: string[] = [];
  const tokens = new Set<string | undefined>();
  const server = createServer(({ url = '', headers }, response) => {
    requests.push(url);
    tokens.add(headers.authorization);
    const { pathname, searchParams } = new URL(url, 'http://old');
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/v1/kubernetes/providers') return send(200, accounts);
    if (pathname !== '/credentials/type/kubernetes') return send(404, { error: 'not found' });
    const start = searchParams.get('startingAccountName') ?? '';
    const listed = accounts.filter(({ name }) => String(name) >= start);
    return send(200, listed.slice(0, Number(searchParams.get('limit') ?? 100)));
  });
  return {
    ...(await listen(server)),
    requests,
    tokens,
  };
}
