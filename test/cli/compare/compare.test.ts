import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { differencesMax, findDifferences, pickAccount } from '#cli/compare/differences.ts';
import { parseReads } from '#cli/compare/reads.ts';
import type { JsonValue } from '#core/json.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type Clouddriver, startClouddriver } from '#test/support/services/clouddriver.ts';
import { runCommand } from '../command-line.ts';

const group = {
  ...{
    account: 'prod',
    region: 'web',
    name: 'replicaSet a-v001',
    cluster: 'deployment a',
    labels: { app: 'a' },
  },
  instances: [{ name: 'pod a-1' }],
};

/** What both sides say at first, by path. */
const usual: { readonly [path: string]: JsonValue } = {
  '/credentials?expand=true': [{ name: 'prod' }, { name: 'other' }],
  '/credentials/prod': { name: 'prod', type: 'kubernetes' },
  '/applications?restricted=false&expand=true': [
    { name: 'shop', clusterNames: { prod: ['deployment a'] } },
    { name: 'foreign', clusterNames: { other: ['x'] } },
  ],
  '/applications/shop/serverGroups?expand=false': [group],
};

const place = 'prod/web/replicaSet%20a-v001';
let here: Clouddriver;
let there: Clouddriver;
disposeAfterAll(() => [here, there]);

beforeEach(async () => {
  [here, there] = await Promise.all([startClouddriver(), startClouddriver()]);
  answer(here, {});
  answer(there, {});
});

function answer(clouddriver: Clouddriver, changed: { readonly [path: string]: JsonValue }): void {
  const answers = new Map(Object.entries({ ...usual, ...changed }));
  clouddriver.answer = ({ url = '' }, response) => {
    if (/^\/(manifests|instances)\//.test(url)) return void response.writeHead(404).end('{}');
    response.end(JSON.stringify(answers.get(url) ?? []));
  };
}

const compare = (...words: readonly string[]) =>
  runCommand(['compare', 'prod', '--url', here.url, '--with', there.url, '--output', 'json', ...words]);

describe('busdriver compare', () => {
  it('asks both sides what Spinnaker asks, and nothing of other accounts', async () => {
    const { code, stdout, stderr } = await compare();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '17 reads, 0 of them with differences that are not known\n',
    });
    const paths = (clouddriver: Clouddriver) => clouddriver.calls.map(({ path }) => path).sort();
    expect(paths(here)).toEqual(paths(there));
    expect(paths(here)).toEqual(
      expect.arrayContaining([
        ...['/applications/shop/rawResources', `/manifests/${place}?includeEvents=false`],
        ...['/instances/prod/web/pod%20a-1', '/applications/shop/clusters/prod/deployment%20a/kubernetes'],
      ]),
    );
    expect(stdout).not.toContain('foreign');
    // Of an account that the upstream keeps Busdriver would answer with what that has.
    expect(here.calls[0]?.headers).toMatchObject({ 'x-busdriver-upstream': 'none' });
    expect(there.calls[0]?.headers).not.toHaveProperty('x-busdriver-upstream');
  });

  it('ends with 1 at a difference, which it shows without its values', async () => {
    const path = '/applications/shop/serverGroups?expand=false';
    answer(there, {
      [path]: [
        { ...group, labels: { app: 'planted' } },
        { ...group, account: 'other' },
      ],
    });
    const { code, stdout } = await compare();
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toContainEqual({
      ...{ client: 'Deck', path, state: 'different' },
      differences: [{ at: '[prod web replicaSet a-v001].labels.app', found: 'differs' }],
    });
    expect(stdout).not.toContain('planted');
    const table = await runCommand(['compare', 'prod', '--url', here.url, '--with', there.url]);
    expect(table.stdout).toMatch(
      /Deck +\S+ +different +\[prod web replicaSet a-v001\]\.labels\.app differs\n/,
    );
  });

  it('knows differences that are meant to be, and why', async () => {
    answer(here, { '/credentials/prod': { name: 'prod', type: 'kubernetes', health: { state: 'UP' } } });
    const { code, stdout } = await compare();
    expect(code).toBe(0);
    const reason = 'Clouddriver does not say how an account is';
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        state: 'known',
        differences: [{ at: 'health', found: 'only here', reason }],
      }),
    );
  });

  it('compares the reads of a file', async () => {
    await using dir = await makeTempDir();
    const file = join(dir.path, 'reads.txt');
    await writeFile(
      file,
      '10.0.0.1 - "GET /credentials/prod HTTP/1.1" 200\n\n# old\nPOST /kubernetes/ops\n/manifests/a/b/c\n',
    );
    const { code, stdout } = await compare('--requests', file);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { client: 'file', path: '/credentials/prod', state: 'same' },
      { path: '/manifests/a/b/c', state: 'same', found: '404 here, 404 there' },
    ]);
  });

  it('fails where one side does, or does not have the account', async () => {
    answer(there, { '/credentials/prod': [] });
    there.answer = (_, response) => void response.writeHead(500).end('{}');
    const failing = await compare();
    expect(failing.code).toBe(1);
    expect(failing.stdout).toContain('"200 here, 500 there"');
    answer(here, { '/credentials/prod': [] });
    expect(await compare()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no side has an account 'prod'"),
    });
    await there[Symbol.asyncDispose]();
    const silent = await compare();
    expect(silent).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('name where the Clouddriver answers by --with'),
    });
  });
});

describe('answers', () => {
  it.each<[string, JsonValue, JsonValue]>([
    ['of lists in any order', [{ name: 'a' }, { name: 'b' }], [{ name: 'b' }, { name: 'a' }]],
    ['of equal items in any order', [[1], 'x', 'x', { y: 1, z: 2 }], ['x', { z: 2, y: 1 }, [1], 'x']],
    ['of doubles', { replicas: 2 }, JSON.parse('{"replicas":2.0}')],
  ])('are the same: %s', (_, one, other) => {
    expect(findDifferences('/', { here: one, there: other })).toEqual([]);
  });

  it('differ by items that one side has more often', () => {
    expect(findDifferences('/', { here: ['x', 'x'], there: ['x'] })).toMatchObject([
      { at: '["x"#2]', found: 'only here' },
    ]);
  });

  it('are listed up to a limit', () => {
    const items = Array.from({ length: 1_000 }, (_, index) => `item ${index}`);
    expect(findDifferences('/', { here: items, there: [] })).toHaveLength(differencesMax);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['/credentials', [{ name: 'prod' }, { name: 'x' }], [{ name: 'prod' }]],
    ['/applications/a/clusters', { prod: ['c'], x: ['d'] }, ['c']],
    ['/applications/a', { name: 'a', clusters: { prod: [1], x: [2] } }, { name: 'a', clusters: [1] }],
    [
      '/search?q=a',
      [{ results: [{ account: 'prod' }, { account: 'x' }] }],
      [{ results: [{ account: 'prod' }] }],
    ],
  ])('of %s are those of the account', (path, value, picked) => {
    expect(pickAccount(path, value, 'prod')).toEqual(picked);
  });

  it('of a recorded file are asked for once', () => {
    expect(parseReads('GET /a\n/a\r\n//b c\nhttp://x/y')).toMatchObject([{ path: '/a' }, { path: '//b' }]);
  });
});
