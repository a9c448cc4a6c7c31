import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Origin, startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { type Subject, startSystem } from '#test/support/system/system.ts';

const index = `apiVersion: v1
entries:
  shop:
  - urls: [shop-1.4.2.tgz]
    version: 1.4.2
  - urls: [shop-1.4.1.tgz]
    version: 1.4.1
  web:
  - version: 0.1.0
`;

describe('pickers of artifacts', () => {
  const stack = new AsyncDisposableStack();
  let charts: Origin;
  let system: Subject;

  beforeAll(async () => {
    charts = stack.use(
      await startOrigin((request, response) => {
        if (request.url === '/stable/index.yaml') response.end(index);
        else if (request.url === '/stable/shop-1.4.2.tgz') response.end('archive');
        else response.writeHead(404).end();
      }),
    );
    const accounts = [
      { name: 'charts', repository: `${charts.url}/stable` },
      { name: 'gone', repository: `${charts.url}/gone` },
    ];
    const helm = { enabled: true, accounts };
    const artifacts = { urlRestrictions: { allowedIps: ['127.0.0.1'] }, helm, http: { enabled: true } };
    system = stack.use(await startSystem({ settings: { artifacts } }));
  });

  afterAll(() => stack.disposeAsync());

  const read = async (path: string): Promise<readonly [number, unknown]> => {
    const response = await system.fetch(`/artifacts/account/${path}`);
    return [response.status, await response.json()];
  };

  test('see the charts of a repository, and the versions of one', async () => {
    expect(await read('charts/names?type=helm/chart')).toEqual([200, ['shop', 'web']]);
    expect(await read('charts/names')).toEqual([200, ['shop', 'web']]);
    expect(await read('charts/versions?type=helm/chart&artifactName=shop')).toEqual([
      200,
      ['1.4.2', '1.4.1'],
    ]);
  });

  test.each([
    ['charts/versions?type=helm/chart', 400, 'Artifact name field should not be empty'],
    ['charts/versions?artifactName=', 400, 'Artifact name field should not be empty'],
    ['charts/versions?artifactName=x', 400, 'Could not find correct entry with artifact name x'],
    [
      'charts/names?type=http/file',
      404,
      "Artifact account 'charts' with artifacts of type 'http/file' not found; GET /artifacts/credentials lists the accounts there are",
    ],
    [
      'none/names?type=',
      404,
      "Artifact account 'none' not found; GET /artifacts/credentials lists the accounts there are",
    ],
    ['none/versions', 404, "Artifact account 'none' not found"],
    ['gone/names', 404, 'Received 404 status code from'],
    ['no-auth-http-account/names?type=http/file', 400, 'type http/file has no names'],
    ['no-auth-http-account/versions?type=http/file&artifactName=x', 400, 'type http/file has no versions'],
    ['embedded-artifact/names', 400, "artifact account 'embedded-artifact' has no names"],
  ])('are told what is wrong with %s', async (path, status, message) => {
    const [given, answer] = await read(path);
    expect(given).toBe(status);
    expect(JSON.stringify(answer)).toContain(message);
  });

  const fetchArtifact = async (artifact: object): Promise<readonly [number, string]> => {
    const response = await system.fetch('/artifacts/fetch', {
      method: 'PUT',
      body: JSON.stringify(artifact),
    });
    return [response.status, await response.text()];
  };

  test('and the chart that was picked is fetched', async () => {
    const artifact = { type: 'helm/chart', artifactAccount: 'charts', name: 'shop', version: '1.4.2' };
    expect(await fetchArtifact(artifact)).toEqual([200, 'archive']);
  });

  test('and what stands in an artifact store is not, for there is none', async () => {
    const reference = `ref://shop/${'a'.repeat(64)}`;
    const artifact = { type: 'remote/base64', artifactAccount: 'embedded-artifact', reference };
    expect(await fetchArtifact(artifact)).toEqual([
      404,
      expect.stringContaining('There is no artifact store'),
    ]);
  });
});
