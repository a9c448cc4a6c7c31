import { randomBytes } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { type ScriptedServer, startScriptedServer, toBase64 } from '../client/scripted-server.ts';

/** How an identity provider of a test behaves. */
export interface IdentityProviderOptions {
  readonly clock: Clock;
  /** Life of its tokens, seconds. Default: an hour. */
  readonly lifeSeconds?: number;
  /** Whether a refresh token is taken once, and another given in its place. Default: true. */
  readonly rotates?: boolean;
  /** The Authorization header that a client has to show; default: none. */
  readonly authorization?: string;
  /** Members of its metadata and of its answer in the place of the right ones; `null` leaves one out. */
  readonly metadata?: object;
  readonly answer?: object;
}

/** An identity provider that renews tokens over HTTPS, as OpenID Connect has it. */
export interface IdentityProvider extends AsyncDisposable {
  readonly server: ScriptedServer;
  /** A refresh token that is taken. */
  readonly refreshToken: string;
  /** The forms that were posted for a token, in order. */
  readonly renewals: readonly URLSearchParams[];
  /** An id-token that lives for so many seconds from now. */
  createToken(lifeSeconds: number): string;
  /** A user entry of a kubeconfig. @param config fields of the auth provider to add; undefined takes one away. */
  getUser(config?: { readonly [field: string]: string | undefined }): object;
}

/** Starts an identity provider on 127.0.0.1. */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const { clock, lifeSeconds = 3600, rotates = true } = options;
  const server = await startScriptedServer();
  const { url, authority } = server;
  const first = createSecret('refresh');
  let taken = first;
  const renewals: URLSearchParams[] = [];
  const createToken = (seconds: number): string => {
    const claims = {
      iss: url,
      sub: 'jane',
      exp: Math.floor(clock.now() / 1000) + seconds,
      jti: createSecret('id'),
    };
    return ['{}', JSON.stringify(claims), 'signature']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
  };
  const renew = (form: URLSearchParams, authorization: string | undefined): [number, object] => {
    if (authorization !== options.authorization) return [401, { error: 'invalid_client' }];
    if (form.get('grant_type') !== 'refresh_token' || form.get('refresh_token') !== taken)
      return [
        400,
        { error: 'invalid_grant', error_description: `no such token: ${form.get('refresh_token')}` },
      ];
    if (rotates) taken = createSecret('refresh');
    const given = { id_token: createToken(lifeSeconds), ...(rotates && { refresh_token: taken }) };
    return [200, { access_token: createSecret('access'), token_type: 'Bearer', ...given, ...options.answer }];
  };
  server.script((response, { method, path, body, headers }) => {
    const send = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (path === '/.well-known/openid-configuration')
      return send(200, { issuer: url, token_endpoint: `${url}/token`, ...options.metadata });
    if (method !== 'POST' || path !== '/token') return send(404, {});
    const form = new URLSearchParams(body);
    renewals.push(form);
    send(...renew(form, headers.authorization));
  });
  return {
    server,
    refreshToken: first,
    renewals,
    createToken,
    getUser: (config) => ({
      'auth-provider': {
        name: 'oidc',
        config: {
          'id-token': createToken(-60),
          'refresh-token': first,
          'client-id': 'busdriver',
          'idp-issuer-url': url,
          'idp-certificate-authority-data': toBase64(authority.certificate),
          ...config,
        },
      },
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function createSecret(kind: string): string {
  return `${kind}-${randomBytes(12).toString('hex')}`;
}
