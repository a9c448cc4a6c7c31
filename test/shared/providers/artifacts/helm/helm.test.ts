import { describe, expect, test } from 'vitest';
import { AccessDeniedError, FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ArtifactSource } from '#providers/artifacts/download/source.ts';
import { chartUrlsMax, openHelmSources } from '#providers/artifacts/helm/helm.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, createTestClock, neverAborted, readText } from '../options.ts';
import { startOrigin } from '../origin.ts';

function open(account: JsonObject, clock = createTestClock()) {
  const options = createLocalOptions('helm', { accounts: [{ name: 'charts', ...account }] }, { clock });
  const [source] = openHelmSources(options).sources;
  if (source === undefined) throw new Error('the account was rejected');
  return source;
}

/** A repository at `/charts/`, whose charts have these versions; anything else there answers its path. */
function startRepository(entries: Readonly<Record<string, readonly JsonObject[]>>) {
  return startOrigin((request, response) => {
    const path = request.url ?? '';
    if (path === '/charts/index.yaml') response.end(toIndex(entries));
    else if (path.includes('missing')) response.writeHead(404).end();
    else response.end(`chart ${path}`);
  });
}

/** JSON is YAML, so members of a version may be written so. */
function toIndex(entries: Readonly<Record<string, readonly JsonObject[]>>): string {
  const lines = Object.entries(entries).flatMap(([name, versions]) => [
    `  ${name}:`,
    ...versions.flatMap((version) =>
      Object.entries(version).map(
        ([key, value], index) => `  ${index === 0 ? '-' : ' '} ${key}: ${JSON.stringify(value)}`,
      ),
    ),
  ]);
  return ['apiVersion: v1', 'entries:', ...lines, 'generated: now', ''].join('\n');
}

async function fetchChart(account: JsonObject, artifact: Artifact): Promise<string> {
  await using source = open(account);
  return readText((await source.fetch({ type: 'helm/chart', ...artifact }, neverAborted())).body);
}

describe('fetching helm/chart', () => {
  const web = [
    { version: '1.9.0', urls: ['web-1.9.0.tgz'] },
    { version: '1.10.0', urls: ['nested/web-1.10.0.tgz'] },
    { version: '2.0.0-rc.1', urls: ['/root/web-2.0.0-rc.1.tgz'] },
  ];

  test.each([
    [{ version: '1.9.0' }, '/charts/web-1.9.0.tgz'],
    [{ version: '2.0.0-rc.1' }, '/root/web-2.0.0-rc.1.tgz'],
    [{ version: ' ' }, '/charts/nested/web-1.10.0.tgz'],
    [{}, '/charts/nested/web-1.10.0.tgz'],
  ])('of %j reads its archive, relative to the repository', async (artifact, path) => {
    await using origin = await startRepository({ other: [{ version: '9.0.0', urls: ['x'] }], web });
    for (const repository of [`${origin.url}/charts`, `${origin.url}/charts/`]) {
      const account = { repository, username: 'ann', password: 'p' };
      expect(await fetchChart(account, { name: 'web', ...artifact })).toBe(`chart ${path}`);
    }
    const basic = `Basic ${btoa('ann:p')}`;
    expect(origin.requests.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(basic));
  });

  test.each([
    [{ name: 'web', version: '3.0.0' }, 'Could not find correct entry with artifact version 3.0.0'],
    [{ name: 'shop' }, 'Could not find correct entry with artifact name shop'],
    [{ name: 'bare' }, 'Could not find correct entry with artifact version 1.0.0'],
    [{}, 'Artifact name field should not be empty'],
  ])('refuses %j in the words of Clouddriver', async (artifact, complaint) => {
    await using origin = await startRepository({ web, bare: [{ version: '1.0.0', urls: [] }] });
    const failure = await getFailure(fetchChart({ repository: `${origin.url}/charts` }, artifact));
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect((failure as Error).message).toBe(complaint);
  });

  test('tries the places of a version in order, a few of them', async () => {
    const many = Array.from({ length: 9 }, (_, index) => `missing-${index}`);
    await using origin = await startRepository({
      web: [{ version: '1.0.0', urls: ['http://[', 'ftp://a.example.com/x', 'missing', 'b.tgz', 'c.tgz'] }],
      gone: [{ version: '1.0.0', urls: many }],
    });
    const repository = `${origin.url}/charts`;
    expect(await fetchChart({ repository }, { name: 'web' })).toBe('chart /charts/b.tgz');
    const before = origin.requests.length;
    await expect(fetchChart({ repository }, { name: 'gone' })).rejects.toThrow(NotFoundError);
    expect(origin.requests.length - before).toBe(1 + chartUrlsMax);
  });

  test('sends no credentials to archives on another host, and reaches none that is excluded', async () => {
    await using files = await startOrigin((_, response) => response.end('archive'));
    await using origin = await startRepository({
      web: [{ version: '1.0.0', urls: [`${files.url}/web.tgz`] }],
      inner: [{ version: '1.0.0', urls: ['http://169.254.169.254/planted'] }],
    });
    const account = { repository: `${origin.url}/charts`, username: 'ann', password: 'planted' };
    expect(await fetchChart(account, { name: 'web' })).toBe('archive');
    expect(files.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    const failure = await getFailure(fetchChart(account, { name: 'inner' }));
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(String(failure)).not.toContain('planted');
  });

  test('tells what is wrong with a repository without an index', async () => {
    await using origin = await startOrigin((_, response) => response.end('<html>'));
    const account = { repository: origin.url };
    await expect(fetchChart(account, { name: 'web' })).rejects.toThrow(FailedOperationError);
  });
});

test('helm/index is the index itself', async () => {
  const entries = { web: [{ version: '1.0.0', urls: ['x'] }] };
  await using origin = await startRepository(entries);
  expect(await fetchChart({ repository: `${origin.url}/charts` }, { type: 'helm/index' })).toBe(
    toIndex(entries),
  );
});

describe('the index of a repository', () => {
  const index = toIndex({ web: [{ version: '1.0.0', urls: ['x'] }] });
  const changed = toIndex({ shop: [{ version: '1.0.0', urls: ['x'] }] });

  /** A repository that answers 304 where it is asked so; `current` is what it has. */
  function startVersioned(current: { text: string; etag: string }, sent: number[]) {
    return startOrigin(({ headers }, response) => {
      const isSame = headers['if-none-match'] === current.etag;
      sent.push(isSame ? 304 : 200);
      response.setHeader('etag', current.etag);
      if (isSame) response.writeHead(304).end();
      else response.end(current.text);
    });
  }

  async function listNames(source: ArtifactSource): Promise<readonly string[] | undefined> {
    return source.listNames?.(neverAborted());
  }

  test('is sent once a minute, unless it changes', async () => {
    const current = { text: index, etag: '"1"' };
    const sent: number[] = [];
    await using origin = await startVersioned(current, sent);
    const clock = createTestClock();
    await using source = open({ repository: origin.url }, clock);
    await using other = open({ repository: origin.url }, clock);
    for (const _ of [1, 2]) expect(await listNames(source)).toEqual(['web']);
    // What one account may see is nothing for another.
    expect(await listNames(other)).toEqual(['web']);
    expect(sent).toEqual([200, 304, 200]);
    current.text = changed;
    current.etag = '"2"';
    for (const _ of [1, 2]) expect(await listNames(source)).toEqual(['shop']);
    clock.advance(60_000);
    expect(await listNames(source)).toEqual(['shop']);
    expect(sent).toEqual([200, 304, 200, 200, 304, 200]);
  });

  test('is read anew where it is large, or nobody says which one it is', async () => {
    const sent: number[] = [];
    const padding = `# ${'x'.repeat(99)}\n`.repeat(20_000);
    await using large = await startVersioned({ text: padding + index, etag: '"1"' }, sent);
    await using source = open({ repository: large.url });
    for (const _ of [1, 2]) expect(await listNames(source)).toEqual(['web']);
    expect(sent).toEqual([200, 200]);
    await using silent = await startOrigin((_, response) => response.end(index));
    await using other = open({ repository: silent.url });
    for (const _ of [1, 2]) expect(await listNames(other)).toEqual(['web']);
    expect(silent.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });
});

test('names and versions are those of the index', async () => {
  const versions = [{ version: '1.9.0' }, { version: '1.10.0', urls: ['x'] }];
  await using origin = await startRepository({ web: versions, shop: versions });
  await using source = open({ repository: `${origin.url}/charts` });
  expect(await source.listNames?.(neverAborted())).toEqual(['web', 'shop']);
  expect(await source.listVersions?.('web', neverAborted())).toEqual(['1.9.0', '1.10.0']);
  await expect(source.listVersions?.('none', neverAborted())).rejects.toThrow(InvalidInputError);
});
