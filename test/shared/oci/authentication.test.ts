import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { openHelmOciSources } from '#providers/artifacts/helm/helm-oci.ts';
import { createTestOptions, neverAborted } from '#test/shared/providers/artifacts/options.ts';
import { startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { openClient } from '#test/shared/providers/docker-registry/test-account.ts';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { listenLocally } from '#test/support/network/local-server.ts';

const credentials = { username: 'robot', password: 'planted-s3cr3t' };
const basic = `Basic ${btoa('robot:planted-s3cr3t')}`;

/** The clients of registries: each lists the tags of a repository with an account. */
const clients: { readonly [what: string]: (address: string) => Promise<unknown> } = {
  async images(address) {
    await using opened = openClient({ address, ...credentials });
    return await opened.client.listTags('shop/cart', neverAborted());
  },
  async charts(address) {
    const account: JsonObject = { name: 'charts', address, ...credentials };
    const urlRestrictions = { allowedIps: ['127.0.0.1'] };
    const settings = { artifacts: { urlRestrictions, 'helm-oci': { enabled: true, accounts: [account] } } };
    const [source] = openHelmOciSources(createTestOptions(settings)).sources;
    await using opened = source;
    return await opened?.listVersions?.('shop/cart', neverAborted());
  },
};

const challenge = (value: string): RequestListener => {
  return (_, response) => response.writeHead(401, { 'www-authenticate': value }).end();
};
const giveToken: RequestListener = (_, response) => response.end('{"token":"t"}');

describe.each(Object.entries(clients))('the password of an account of %s', (_, list) => {
  test.each([
    ['names a token server', (port: number) => `Bearer realm="http://127.0.0.1:${port}/token"`],
    ['names one by HTTPS', (port: number) => `Bearer realm="https://127.0.0.1:${port}/token"`],
    ['wants a password', () => 'Basic realm="x"'],
  ])('goes nowhere for a host that the registry redirects to, and that %s', async (__, toChallenge) => {
    await using thief = await startOrigin(giveToken);
    await using other = await startOrigin(challenge(toChallenge(thief.port)));
    await using registry = await startOrigin(({ url }, response) =>
      response.writeHead(307, { location: `${other.url}${url}` }).end(),
    );
    const failure: unknown = await list(registry.url).catch((error: unknown) => error);
    expect(thief.requests.map(({ headers }) => headers.authorization)).toEqual([]);
    expect(thief.connections).toBe(0);
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(registry.requests).toHaveLength(1);
    expect(String(failure)).toContain(`redirects to ${other.url}, which answered 401`);
  });

  test('goes to no other host by HTTP, though the registry itself names it', async () => {
    await using tokens = await startOrigin(giveToken);
    await using registry = await startOrigin(challenge(`Bearer realm="${tokens.url}/token"`));
    const says = `names ${tokens.url} as its token server: the password of the account may not go`;
    const failure: unknown = await list(registry.url).catch((error: unknown) => error);
    expect(tokens.requests.map(({ headers }) => headers.authorization)).toEqual([]);
    expect(String(failure)).toContain(says);
  });

  test('goes to the token server that the registry names by HTTPS, as Docker Hub does', async () => {
    const asked: (string | undefined)[] = [];
    const tokens = await startSecure(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end('{"token":"t"}');
    });
    await using registry = await startOrigin((request, response) => {
      if (request.headers.authorization === 'Bearer t') response.end('{"tags":["1.0.0"]}');
      else challenge(`Bearer realm="${tokens}/token",service="registry"`)(request, response);
    });
    expect(await list(registry.url)).toEqual(['1.0.0']);
    expect(asked).toEqual([basic]);
  });
});

/** Starts a server of HTTPS that this process trusts while the test runs. @returns its address */
async function startSecure(listener: RequestListener): Promise<string> {
  const authority = new CertificateAuthority();
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, authority.certificate]);
  const { certificate: cert, key } = authority.issue({ commonName: 'tokens', hosts: ['127.0.0.1'] });
  const server = createServer({ cert, key }, listener);
  const port = await listenLocally(server);
  onTestFinished(() => {
    setDefaultCACertificates(trusted);
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${port}`;
}
