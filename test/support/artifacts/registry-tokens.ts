import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type RegistryAuth, registryPassword, registryUser } from './registry.ts';

/** A token server on this machine, as Docker's distribution specification has it. */
export interface TokenServer extends AsyncDisposable {
  readonly auth: RegistryAuth;
  /** Scopes that tokens were asked for, in order. */
  readonly scopes: readonly string[];
  /** Seconds for which its tokens hold; undefined: it does not say so. */
  lifetimeSeconds: number | undefined;
}

const issuer = 'tokens.test';

/** Starts a server that gives tokens to the user of the test registries. */
export async function startTokenServer(): Promise<TokenServer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'RS256', use: 'sig' };
  const scopes: string[] = [];
  const basic = `Basic ${Buffer.from(`${registryUser}:${registryPassword}`).toString('base64')}`;
  const server = createServer(async ({ url = '', headers }, response) => {
    const { searchParams } = new URL(url, 'http://tokens');
    const scope = searchParams.get('scope') ?? '';
    scopes.push(scope);
    if (headers.authorization !== basic) return response.writeHead(401).end('{}');
    const [type = '', name = '', actions = ''] = scope.split(':');
    const token = await new SignJWT({
      access: [{ type, name, actions: actions.split(',') }],
      jti: String(scopes.length),
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'test' })
      .setIssuer(issuer)
      .setSubject(registryUser)
      .setAudience(searchParams.get('service') ?? '')
      .setIssuedAt()
      .setNotBefore('-1m')
      .setExpirationTime('5m')
      .sign(privateKey);
    const { lifetimeSeconds } = tokens;
    response.end(
      JSON.stringify({ token, ...(lifetimeSeconds !== undefined && { expires_in: lifetimeSeconds }) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const auth = {
    scheme: 'token',
    realm: `http://127.0.0.1:${port}/token`,
    issuer,
    jwks: JSON.stringify({ keys: [jwk] }),
  } as const;
  const tokens: TokenServer = {
    auth,
    scopes,
    lifetimeSeconds: 300,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return tokens;
}
