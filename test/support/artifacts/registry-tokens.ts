import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { registryPassword, registryUser, startRegistry } from './registry.ts';
import { passOn } from './registry-front.ts';

/**
 * A registry each of whose requests takes a token, and at the same origin the server of these, as Docker's distribution specification has
 * it: over HTTP nobody sends a password to another one.
 */
export interface TokenRegistry extends AsyncDisposable {
  readonly url: string;
  /** Scopes that tokens were asked for, in order. */
  readonly scopes: readonly string[];
  /** Seconds for which its tokens hold; undefined: it does not say so. */
  lifetimeSeconds: number | undefined;
}

const issuer = 'tokens.test';

/**
 * Starts a registry that gives tokens to the user of the test registries.
 *
 * @param options.storage folder of another one, with what that stores
 */
export async function startTokenRegistry(options: { readonly storage: string }): Promise<TokenRegistry> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'RS256', use: 'sig' };
  const scopes: string[] = [];
  const basic = `Basic ${Buffer.from(`${registryUser}:${registryPassword}`).toString('base64')}`;
  const giveToken = async ({ url = '', headers }: IncomingMessage, response: ServerResponse) => {
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
    const { lifetimeSeconds } = registry;
    response.end(
      JSON.stringify({ token, ...(lifetimeSeconds !== undefined && { expires_in: lifetimeSeconds }) }),
    );
  };
  const origin = await startOrigin((request, response) =>
    request.url?.startsWith('/token') ? giveToken(request, response) : passOn(behind, request, response),
  );
  const jwks = JSON.stringify({ keys: [jwk] });
  const auth = { scheme: 'token', realm: `${origin.url}/token`, issuer, jwks } as const;
  const behind = await startRegistry({ auth, ...options });
  const registry: TokenRegistry = {
    url: origin.url,
    scopes,
    lifetimeSeconds: 300,
    async [Symbol.asyncDispose]() {
      await origin[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
  return registry;
}
