import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '#test/support/network/listening.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { itLocally, startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

const plantedSecret = 'planted-secret-4711';

/** Two accounts of clusters that nobody runs: none of these routes may call one. */
const configuration = {
  kubernetes: {
    enabled: true,
    accounts: [
      {
        name: 'open',
        context: 'none',
        kubeconfigContents: JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
          users: [{ name: 'u', user: { token: plantedSecret } }],
          contexts: [{ name: 'none', context: { cluster: 'c', user: 'u' } }],
        }),
        namespaces: ['shop', 'billing'],
        providerVersion: 'V2',
        dockerRegistries: [{ accountName: 'hub' }],
      },
      {
        name: 'closed',
        serviceAccount: true,
        environment: 'prod',
        permissions: { read: [' Devs '], WRITE: ['SRE'] },
      },
      { name: 'mistyped', serviceAccount: true, permissions: { WRIET: ['sre'] } },
      { name: 'legacy', serviceAccount: true, requiredGroupMembership: ['Ops'] },
    ],
  },
  credentials: { challengeDestructiveActionsEnvironments: ['prod'] },
  artifacts: {
    http: { enabled: true, accounts: [{ name: 'files', urlRestrictions: { allowedIps: ['127.0.0.1'] } }] },
  },
};

describe('routes that call no cluster', () => {
  let system: Subject;

  beforeAll(async () => {
    system = await startSubject({ settings: configuration });
  });

  afterAll(() => system[Symbol.asyncDispose]());

  const getJson = async (path: string): Promise<unknown> => (await system.fetch(path)).json();

  it('GET /health is up, whatever the accounts', async () => {
    const response = await system.fetch('/health');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(await response.json()).toEqual({ status: 'UP' });
  });

  it('GET / says what answers here, and leads further', async () => {
    const page = (await getJson('/')) as { links: { [name: string]: string } };
    expect(page).toMatchObject({ name: 'Busdriver', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(Object.keys(page.links)).toEqual(expect.arrayContaining(['health', 'openApi']));
    for (const path of Object.values(page.links)) {
      expect([path, (await system.fetch(path)).status]).toEqual([path, 200]);
    }
  });

  itLocally('it asks without the check of answers')(
    'GET / sends browsers to a page of accounts and tasks',
    async () => {
      const headers = { accept: 'text/html,*/*;q=0.8' };
      const response = await fetch(new URL('/', system.url), { headers, redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).toEqual([303, 'status']);
      const page = await system.fetch('/status');
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
      await expect.poll(async () => (await system.fetch('/status')).text()).toContain('<td>open</td>');
      expect(await page.text()).not.toContain('closed');
    },
  );

  it('answers lists of what only other providers have', async () => {
    for (const path of ['/certificates', '/reports/reservation', '/reports/reservation/v3']) {
      expect([path, await getJson(path)]).toEqual([path, []]);
    }
  });

  it('GET /credentials lists the accounts as Fiat, Gate and Igor read them', async () => {
    expect(await getJson('/credentials')).toEqual([
      {
        name: 'closed',
        environment: 'prod',
        accountType: 'closed',
        cloudProvider: 'kubernetes',
        type: 'kubernetes',
        requiredGroupMembership: [],
        permissions: { READ: ['devs'], WRITE: ['sre'] },
        challengeDestructiveActions: true,
        primaryAccount: false,
      },
      expect.objectContaining({ name: 'legacy', requiredGroupMembership: ['Ops'] }),
      expect.not.objectContaining({ permissions: expect.anything() }),
    ]);
  });

  it('GET /credentials?expand=true adds what Deck needs, and no secret', async () => {
    const text = await (await system.fetch('/credentials?expand=true')).text();
    const [, , open = {}] = JSON.parse(text) as { [name: string]: unknown }[];
    expect(open).toMatchObject({
      name: 'open',
      enabled: true,
      namespaces: ['shop', 'billing'],
      dockerRegistries: [],
      cacheThreads: 1,
      spinnakerKindMap: { deployment: 'serverGroupManagers', replicaSet: 'serverGroups', pod: 'instances' },
    });
    expect(text).not.toContain(plantedSecret);
    // How it is may be known a moment later than what it is: agents call its cluster meanwhile.
    const same = { ...open, health: { state: expect.any(String), reason: expect.any(String) } };
    expect(open).toEqual(same);
    expect(await getJson('/credentials/open')).toEqual(same);
    expect(await getJson('/credentials/open/authorized')).toEqual(same);
  });

  it('an account with a mistyped permission is left out, and the log says why', async () => {
    expect((await system.fetch('/credentials/mistyped')).status).toBe(404);
    const log = await system.readLog();
    expect(log).toMatch(/account left out.*mistyped.*WRIET/);
    expect(log).not.toContain(plantedSecret);
  });

  it('an account restricted to groups takes operations only from whom Gate lists it for', async () => {
    const body = JSON.stringify([toDeploy('legacy', 'b', ['a'])]);
    const post = (accounts?: string, path = '/kubernetes/ops'): Promise<Response> =>
      system.fetch(path, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          ...(accounts && { 'X-SPINNAKER-ACCOUNTS': accounts }),
        },
      });

    for (const refused of [await post(), await post('open,closed')]) {
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ errors: ['Access denied to account legacy'] });
    }
    expect((await post('open, LEGACY')).status).toBe(200);
    const restarted = await post('open', '/kubernetes/task/any/restart');
    expect([restarted.status, await restarted.json()]).toMatchObject([
      400,
      { errors: ['Access denied to account legacy'] },
    ]);
  });

  it('answers what never changes', async () => {
    expect(await getJson('/installedPlugins')).toEqual([]);
    expect(await getJson('/cache/kubernetes/manifest')).toEqual([]);
    const refreshed = await system.fetch('/cache/kubernetes/manifest', {
      method: 'POST',
      body: '{"account":"open"}',
    });
    expect([refreshed.status, await refreshed.json()]).toEqual([200, { cachedIdentifiersByType: {} }]);
    const truncated = await system.fetch('/admin/db/truncate/old', { method: 'PUT' });
    expect([truncated.status, await truncated.json()]).toEqual([200, {}]);
    const stages = await getJson('/features/stages');
    expect(stages).toContainEqual({ name: 'deployManifest', enabled: true });
    expect(JSON.stringify(stages)).not.toContain('dryRun');
  });

  itLocally('API Gateway knows no 405')('answers 405 with what is allowed', async () => {
    const response = await system.fetch('/credentials', { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain('GET');
  });

  it('compresses for who accepts it', async () => {
    const { request } = await import('node:http');
    const answer = await new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
      const call = request(
        new URL('/credentials?expand=true', system.url),
        { headers: { accept: '*/*', 'accept-encoding': 'gzip' } },
        async (response) => {
          const bytes = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
          resolve({ encoding: response.headers['content-encoding'], bytes });
        },
      );
      call.once('error', reject).end();
    });
    expect(answer.encoding).toBe('gzip');
    expect(JSON.parse(gunzipSync(answer.bytes).toString('utf8'))).toHaveLength(3);
  });

  it('PUT /artifacts/fetch, with or without the slash that Orca sends, answers the bytes', async () => {
    const bytes = Buffer.from([0, 1, 2, 0xff, 0xfe, 10]);
    const files = createServer((_request, response) => response.end(bytes));
    await using listening = await listen(files);
    const reference = `${listening.url}/file`;
    const body = JSON.stringify({ type: 'http/file', artifactAccount: 'files', reference });
    for (const path of ['/artifacts/fetch', '/artifacts/fetch/']) {
      const response = await system.fetch(path, { method: 'PUT', body });
      expect([path, response.status, Buffer.from(await response.arrayBuffer())]).toEqual([path, 200, bytes]);
    }
  });

  it.each(['names', 'versions'])(
    'GET /artifacts/account/{account}/%s knows which accounts there are',
    async (what) => {
      const read = async (path: string) => (await system.fetch(`/artifacts/account/${path}`)).status;
      const known = await system.fetch(`/artifacts/account/files/${what}?type=http/file`);
      expect([known.status, await known.text()]).toEqual([
        400,
        expect.stringContaining(`type http/file has no ${what}`),
      ]);
      expect(await read(`files/${what}`)).toBe(400);
      expect(await read(`files/${what}?type=helm/chart`)).toBe(404);
      expect(await read(`unknown/${what}?type=http/file`)).toBe(404);
    },
  );

  it('PUT /artifacts/fetch decodes an embedded artifact', async () => {
    const reference = Buffer.from('kind: ConfigMap').toString('base64');
    const body = JSON.stringify({ type: 'embedded/base64', artifactAccount: 'embedded-artifact', reference });
    const response = await system.fetch('/artifacts/fetch', { method: 'PUT', body });
    expect(await response.text()).toBe('kind: ConfigMap');
  });

  it('PUT /artifacts/fetch refuses an address of this machine that nobody allowed', async () => {
    const body = JSON.stringify({
      type: 'http/file',
      artifactAccount: 'files',
      reference: 'http://127.0.0.2/',
    });
    const response = await system.fetch('/artifacts/fetch', { method: 'PUT', body });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
  });

  it.each([
    ['a host of 100,000 dots', `http://${'.'.repeat(100_000)}x/`],
    ['a path of 100,000 slashes', `http://files.example.com${'/'.repeat(100_000)}x`],
  ])('PUT /artifacts/fetch refuses %s at once', async (_, reference) => {
    const body = JSON.stringify({ type: 'http/file', artifactAccount: 'files', reference });
    const startedAt = performance.now();

    const response = await system.fetch('/artifacts/fetch', { method: 'PUT', body });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [expect.stringMatching(/^reference: expected at most 8192 characters, got 100\d{3}$/)],
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  itLocally('it guards this machine alone')('refuses a foreign Host and a foreign Origin', async () => {
    const foreign = await system.fetch('/health', { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
  });
});
