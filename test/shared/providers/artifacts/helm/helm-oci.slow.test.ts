import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AccessDeniedError, FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { openHelmOciSources } from '#providers/artifacts/helm/helm-oci.ts';
import {
  describeWithRegistry,
  pushChart,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { startTokenRegistry } from '#test/support/artifacts/registry-tokens.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { CertificateAuthority } from '../../kubernetes/credentials/certificates.ts';
import { createTestOptions, neverAborted, readBytes } from '../options.ts';
import { startOrigin } from '../origin.ts';

const urlRestrictions = { allowedIps: ['127.0.0.1'] };
const credentials = { username: registryUser, password: registryPassword };
const chartType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

function openAll(accounts: readonly JsonObject[], more: Partial<ProviderContext> = {}) {
  const settings = { artifacts: { urlRestrictions, 'helm-oci': { enabled: true, accounts: [...accounts] } } };
  return openHelmOciSources(createTestOptions(settings, more));
}

function open(account: JsonObject) {
  const { sources, rejectedAccounts } = openAll([{ name: 'charts', ...account }]);
  const [source] = sources;
  if (source === undefined) throw new Error(rejectedAccounts[0]?.reason);
  return source;
}

async function fetchBytes(account: JsonObject, artifact: Artifact): Promise<Uint8Array> {
  await using source = open(account);
  return await readBytes((await source.fetch({ type: 'helm/image', ...artifact }, neverAborted())).body);
}

async function fail(account: JsonObject, artifact: Artifact): Promise<unknown> {
  return fetchBytes(account, artifact).catch((error: unknown) => error);
}

describeWithRegistry('charts of the Distribution registry', () => {
  let registry: TestRegistry;
  let digest: string;
  const archive = Buffer.alloc(3_000_000, 'chart of the shop ');

  beforeAll(async () => {
    registry = await startRegistry();
    const chart = { repository: 'charts/shop', archive };
    digest = await pushChart(registry.url, { ...chart, tag: '1.10.0' });
    for (const tag of ['1.9.0', '2.0.0-rc.1', '1.9.0_build.7', 'stable']) {
      await pushChart(registry.url, { ...chart, tag, archive: Buffer.from(`archive ${tag}`) });
    }
    const built = Buffer.from('archive of a build');
    await pushChart(registry.url, { repository: 'charts/built', tag: '1.0.0_build.7', archive: built });
    await pushImage(registry.url, { repository: 'shop/cart', tags: ['1.0.0'] });
  }, 600_000);
  afterAll(async () => registry?.[Symbol.asyncDispose]());

  test('are fetched by their version, whole', async () => {
    const artifact = { name: 'charts/shop', version: '1.10.0' };
    expect(Buffer.from(await fetchBytes({ address: registry.url }, artifact))).toEqual(archive);
  });

  test.each([
    ['1.9.0', 'archive 1.9.0'],
    ['1.9.0+build.7', 'archive 1.9.0_build.7'],
    ['stable', 'archive stable'],
  ])('in version %s are what was pushed as it', async (version, content) => {
    const address = `${registry.url}/v2/`;
    expect(String(Buffer.from(await fetchBytes({ address }, { name: 'charts/shop', version })))).toBe(
      content,
    );
  });

  test('without a version are the newest, and by a digest exactly that one', async () => {
    const account = { address: registry.url, paginateSize: 2 };
    for (const version of ['', ' ', digest]) {
      const bytes = await fetchBytes(account, { name: 'charts/shop', version });
      expect(Buffer.from(bytes)).toEqual(archive);
    }
    expect(String(Buffer.from(await fetchBytes(account, { name: 'charts/built' })))).toBe(
      'archive of a build',
    );
  });

  test('are told from images, and from what is not there', async () => {
    const account = { address: registry.url };
    const image = await fail(account, { name: 'shop/cart', version: '1.0.0' });
    expect(image).toBeInstanceOf(InvalidInputError);
    expect(String(image)).toContain('is no Helm chart');
    for (const artifact of [
      { name: 'charts/shop', version: '3.0.0' },
      { name: 'charts/none', version: '1.0.0' },
      { name: 'charts/none' },
    ]) {
      expect(await fail(account, artifact)).toBeInstanceOf(NotFoundError);
    }
  });

  test('have the names that the account lists, and their versions newest first, of all pages', async () => {
    await using source = open({
      ...{ address: registry.url, paginateSize: 2 },
      helmOciRepositories: ['charts/shop', 'charts/pay'],
    });
    expect(await source.listNames?.(neverAborted())).toEqual(['charts/shop', 'charts/pay']);
    expect(await source.listVersions?.('charts/shop', neverAborted())).toEqual([
      ...['2.0.0-rc.1', '1.10.0', '1.9.0', '1.9.0+build.7', 'stable'],
    ]);
    await expect(source.listVersions?.('charts/none', neverAborted())).rejects.toThrow(NotFoundError);
    await expect(source.listVersions?.('../charts', neverAborted())).rejects.toThrow(InvalidInputError);
  });

  test('are fetched with a user name and password', async () => {
    await using closed = await startRegistry({ auth: { scheme: 'basic' }, storage: registry.storage });
    const artifact = { name: 'charts/shop', version: '1.10.0' };
    const bytes = await fetchBytes({ address: closed.url, ...credentials }, artifact);
    expect(Buffer.from(bytes)).toEqual(archive);
    const wrong = await fail({ address: closed.url, ...credentials, password: 'planted' }, artifact);
    expect(wrong).toBeInstanceOf(FailedOperationError);
    expect(String(wrong)).toContain("artifacts.helm-oci account 'charts': the registry answered 401");
    expect(String(wrong)).not.toContain('planted');
    expect(String(await fail({ address: closed.url }, artifact))).toContain('the account has none');
  });

  test('are fetched with a token, which holds for several requests', async () => {
    await using closed = await startTokenRegistry(registry);
    await using source = open({ address: closed.url, ...credentials });
    for (const version of ['1.10.0', '']) {
      const { body } = await source.fetch({ name: 'charts/shop', version }, neverAborted());
      expect(Buffer.from(await readBytes(body))).toEqual(archive);
    }
    expect(closed.scopes).toEqual(['repository:charts/shop:pull']);
    const wrong = await fail(
      { address: closed.url, ...credentials, password: 'planted' },
      { name: 'charts/shop' },
    );
    expect(String(wrong)).toMatch(/the token server 127\.0\.0\.1:\d+ answered 401$/);
  });
});

/** A registry with one chart, whose layer is answered by a listener. */
function startChart(sendLayer: RequestListener, layer: JsonObject = { digest: `sha256:${'0'.repeat(64)}` }) {
  return startOrigin((request, response) => {
    if (!request.url?.includes('/manifests/')) return sendLayer(request, response);
    response.end(JSON.stringify({ layers: [{ mediaType: chartType, ...layer }] }));
  });
}

describe('a registry that cannot be trusted', () => {
  const artifact = { name: 'charts/shop', version: '1.0.0' };
  const hello = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

  test('gets nothing else taken for a chart: its last piece is never passed on', async () => {
    await using origin = await startChart((_, response) => response.end('hello'));
    await using source = open({ address: origin.url });
    const { body } = await source.fetch(artifact, neverAborted());
    const pieces: string[] = [];
    const reading = async () => {
      for await (const piece of body ?? []) pieces.push(String(piece));
    };
    await expect(reading()).rejects.toThrow('answered something else than what has the digest');
    expect(pieces).toEqual([]);
  });

  test.each([
    ['hello', { digest: hello, size: 5 }, 'hello'],
    ['hello', { digest: hello }, 'hello'],
    ['hello and more', { digest: hello, size: 5 }, undefined],
  ])('answers %j where %j was promised', async (content, layer, expected) => {
    await using origin = await startChart((_, response) => response.end(content), layer);
    const reading = fetchBytes({ address: origin.url }, artifact).then((bytes) => String(Buffer.from(bytes)));
    expect(await reading.catch(() => undefined)).toBe(expected);
  });

  test('is left once it sends more than it promised', async () => {
    await using origin = await startChart((_, response) => response.write('hello and more'), {
      digest: hello,
      size: 5,
    });
    const startedAtMs = performance.now();
    expect(String(await fail({ address: origin.url }, artifact))).toContain('something else');
    // It would take 15 s to find that nothing more comes.
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  });

  test('cannot pass another manifest off as that of a digest', async () => {
    await using origin = await startChart((_, response) => response.end('hello'), { digest: hello });
    const failure = await fail({ address: origin.url }, { name: 'charts/shop', version: hello });
    expect(String(failure)).toContain('answered something else than what has the digest');
  });

  test.each([
    ['no JSON', (): JsonObject | string => 'planted'],
    ['no layer of a chart', () => ({ layers: [{ mediaType: 'text/plain', digest: hello }] })],
    ['a layer without a digest', () => ({ layers: [{ mediaType: chartType, digest: '../planted' }] })],
    ['layers that are none', () => ({ layers: { length: 5 } })],
    ['too much', () => 'x'.repeat(5_000_000)],
  ])('is refused with a manifest that is %s', async (_, make) => {
    await using origin = await startOrigin((__, response) => {
      const manifest = make();
      response.end(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
    });
    const failure = await fail({ address: origin.url }, artifact);
    expect(String(failure)).toMatch(/^(FailedOperation|InvalidInput)Error: /);
    expect(String(failure)).not.toContain('planted');
    expect(origin.requests).toHaveLength(1);
  });

  test.each([
    ['on another host', () => '<http://127.0.0.2/v2/charts/shop/tags/list>; rel="next"'],
    ['that is this one', (url: string) => `<${url}>; rel="next"`],
    ['without end', (_: string, count: number) => `</v2/charts/shop/tags/list?last=${count}>; rel="next"`],
  ])('gets no page followed %s', async (_, toLink) => {
    await using origin = await startOrigin(({ url = '' }, response) => {
      response.setHeader('link', toLink(url, origin.requests.length)).end('{"tags":["1.0.0"]}');
    });
    await using source = open({ address: origin.url });
    const failure = await getFailure(source.listVersions?.('charts/shop', neverAborted()));
    expect(failure).toBeInstanceOf(FailedOperationError);
    expect(origin.requests.length).toBeLessThanOrEqual(500);
  });
});

describe('a password', () => {
  const artifact = { name: 'charts/shop', version: '1.0.0' };

  test.each([
    ['https://169.254.169.254/token', AccessDeniedError],
    ['https://10.0.0.1/token', AccessDeniedError],
    ['http://registry.example.com/token', AccessDeniedError],
    ['file:///planted', AccessDeniedError],
    ['http://[planted', FailedOperationError],
  ])('does not go to a token server at %s', async (realm, kind) => {
    await using origin = await startOrigin((_, response) =>
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end(),
    );
    const failure = await fail({ address: origin.url, ...credentials }, artifact);
    expect(failure).toBeInstanceOf(kind);
    expect(String(failure)).not.toContain('planted');
  });
});

describe('a registry with a certificate that nobody knows', () => {
  /** @returns its address */
  async function startSecure(listener: RequestListener): Promise<string> {
    const { certificate: cert, key } = new CertificateAuthority().issue({
      commonName: 'r',
      hosts: ['127.0.0.1'],
    });
    const server = createSecureServer({ cert, key }, listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('is called where the account says so, and nobody else', async () => {
    const sendTags: RequestListener = (_, response) => response.end('{"tags":["1.0.0"]}');
    const address = await startSecure(sendTags);
    const list = async (account: JsonObject) => {
      await using source = open(account);
      return source.listVersions?.('charts/shop', neverAborted());
    };
    await expect(list({ address })).rejects.toThrow(FailedOperationError);
    expect(await list({ address, insecureRegistry: true })).toEqual(['1.0.0']);
    const front = await startSecure((_, response) => response.writeHead(307, { location: address }).end());
    await expect(list({ address: front, insecureRegistry: true })).rejects.toThrow(FailedOperationError);
  });

  test('has its users send no password in clear text', async () => {
    await using tokens = await startOrigin((_, response) => response.end('{"token":"t"}'));
    const address = await startSecure((_, response) =>
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${tokens.url}/token"` }).end(),
    );
    const account = { address, insecureRegistry: true, ...credentials };
    const failure = await fail(account, { name: 'charts/shop', version: '1.0.0' });
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(String(failure)).toContain('without TLS');
    expect(tokens.connections).toBe(0);
  });
});

describe('the accounts', () => {
  const address = 'https://registry.example.com';

  test('are those of artifacts.helm-oci, and those of dockerRegistry with charts', async () => {
    const { sources, rejectedAccounts } = openHelmOciSources(
      createTestOptions({
        artifacts: { 'helm-oci': { enabled: true, accounts: [{ name: 'charts', address }] } },
        dockerRegistry: {
          enabled: true,
          accounts: [
            { name: 'images', address },
            { name: 'both', address, helmOciRepositories: ['charts/shop'], cacheThreads: 2 },
            { name: 'charts', address, helmOciRepositories: ['charts/shop'] },
          ],
        },
      }),
    );
    expect(rejectedAccounts).toEqual([]);
    expect(sources.map(({ name, type, types }) => [name, type, types])).toEqual([
      ['charts', 'artifacts-helm-oci', ['helm/image']],
      ['both', 'artifacts-helm-oci', ['helm/image']],
    ]);
  });

  test.each([
    [
      { helmOciRepositories: ['charts/shop', 'https://planted'] },
      'helmOciRepositories[1]: expected the name',
    ],
    [{ password: 'planted', passwordFile: 'planted' }, 'at most one of password, passwordFile'],
    [{ clientTimeoutMillis: 60_001 }, 'clientTimeoutMillis'],
    [{ paginateSize: -1 }, 'paginateSize'],
    [{ insecureRegistry: 'planted' }, 'insecureRegistry'],
  ])('are refused with %j', (members, reason) => {
    const { rejectedAccounts } = openAll([{ name: 'charts', address, ...members }]);
    expect(rejectedAccounts).toMatchObject([{ name: 'charts', reason: expect.stringContaining(reason) }]);
    expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
  });

  test.each(['passwordFile', 'passwordCommand', 'dockerconfigFile'])('have no %s when deployed', (option) => {
    const account = { name: 'charts', address, username: 'ann', [option]: '/planted' };
    const { rejectedAccounts } = openAll([account], { placement: 'deployed' });
    expect(rejectedAccounts).toMatchObject([
      { reason: expect.stringContaining(`${option}: deployed functions`) },
    ]);
  });

  test('may have a program tell the password', async () => {
    await using origin = await startOrigin((_, response) => response.end('{"tags":["1.0.0"]}'));
    await using source = open({ address: origin.url, username: 'ann', passwordCommand: 'printf p' });
    expect(await source.listVersions?.('charts/shop', neverAborted())).toEqual(['1.0.0']);
    expect(origin.requests[0]?.headers.authorization).toBe(`Basic ${btoa('ann:p')}`);
  });
});

test('a version that can be no tag is refused, and nobody is called', async () => {
  await using origin = await startOrigin((_, response) => response.end());
  for (const version of ['../planted', 'planted?', 'sha256:planted', ' 1.0.0']) {
    const failure = await fail({ address: origin.url }, { name: 'charts/shop', version });
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(String(failure)).not.toContain('planted');
  }
  expect(origin.requests).toEqual([]);
});
