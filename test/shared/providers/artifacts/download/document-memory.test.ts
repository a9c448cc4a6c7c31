import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  documentRememberedMs,
  documentsRememberedBytesMax,
} from '#providers/artifacts/download/document-memory.ts';
import type { OpenSources } from '#providers/artifacts/download/source.ts';
import { openIvySources } from '#providers/artifacts/maven/ivy.ts';
import { openMavenSources } from '#providers/artifacts/maven/maven.ts';
import { createLocalOptions, createTestClock, neverAborted, readText } from '../options.ts';
import { startOrigin } from '../origin.ts';

/** A server of files by path, which says 304 where it is asked so. `sent` has a status and a path for each answer. */
async function startFiles(tag: 'etag' | 'last-modified' | 'none' = 'etag') {
  const files = new Map<string, string>();
  const sent: string[] = [];
  const answer = (path: string, status: number) => {
    sent.push(`${status} ${path}`);
    return status;
  };
  const origin = await startOrigin(({ url: path = '', headers }, response) => {
    const text = files.get(path);
    if (text === undefined) return response.writeHead(answer(path, 404)).end();
    const hash = createHash('sha256').update(text).digest();
    const date = new Date(hash.readUInt32BE() * 100).toUTCString();
    const version = tag === 'etag' ? `"${hash.toString('hex')}"` : date;
    const asked = headers[tag === 'etag' ? 'if-none-match' : 'if-modified-since'];
    if (tag !== 'none') response.setHeader(tag, version);
    if (asked === version) response.writeHead(answer(path, 304)).end();
    else response.writeHead(answer(path, 200)).end(text);
  });
  return {
    ...{ url: origin.url, files, sent },
    /** What was sent since it was last asked. */
    takeSent: () => sent.splice(0),
    [Symbol.asyncDispose]: () => origin[Symbol.asyncDispose](),
  };
}

/** An account that keeps its memory from one file to the next. */
function open(openSources: OpenSources, [kind, type]: readonly [string, string], account: JsonObject) {
  const clock = createTestClock();
  const accounts = [{ name: 'files', ...account }];
  const source = openSources(createLocalOptions(kind, { accounts }, { clock })).sources[0];
  return {
    clock,
    read: async (reference: string) =>
      readText((await source?.fetch({ type, reference }, neverAborted()))?.body),
    [Symbol.asyncDispose]: async () => source?.[Symbol.asyncDispose](),
  };
}

const openMaven = (repositoryUrl: string) =>
  open(openMavenSources, ['maven', 'maven/file'], { repositoryUrl });

const filler = `<x>${'x'.repeat(1_000)}</x>`;

const toMetadata = (release: string, bytes = 0) =>
  `<metadata><versioning><release>${release}</release></versioning>${filler.repeat(bytes / 1_000)}</metadata>`;

describe('the metadata of a Maven repository', () => {
  test.each(['etag', 'last-modified'] as const)(
    'are sent once a minute, unless they change (%s)',
    async (tag) => {
      await using server = await startFiles(tag);
      server.files.set('/a/shop/maven-metadata.xml', toMetadata('1.0'));
      server.files.set('/a/shop/1.0/shop-1.0.jar', 'one').set('/a/shop/1.1/shop-1.1.jar', 'other');
      await using account = openMaven(server.url);
      await using stranger = openMaven(server.url);
      for (const _ of [1, 2]) expect(await account.read('a:shop:RELEASE')).toBe('one');
      // What one account may see is nothing for another.
      expect(await stranger.read('a:shop:RELEASE')).toBe('one');
      const [metadata, file] = ['/a/shop/maven-metadata.xml', '/a/shop/1.0/shop-1.0.jar'];
      expect(server.takeSent()).toEqual(
        [`200 ${metadata}`, `304 ${metadata}`, `200 ${metadata}`].flatMap((sent) => [sent, `200 ${file}`]),
      );

      server.files.set('/a/shop/maven-metadata.xml', toMetadata('1.1'));
      for (const _ of [1, 2]) expect(await account.read('a:shop:RELEASE')).toBe('other');
      account.clock.advance(documentRememberedMs);
      expect(await account.read('a:shop:RELEASE')).toBe('other');
      expect(server.takeSent().filter((sent) => sent.endsWith('.xml'))).toEqual([
        `200 ${metadata}`,
        `304 ${metadata}`,
        `200 ${metadata}`,
      ]);
    },
  );

  test('are read anew where the server does not say which they are', async () => {
    await using server = await startFiles('none');
    server.files.set('/a/shop/maven-metadata.xml', toMetadata('1.0')).set('/a/shop/1.0/shop-1.0.jar', 'one');
    await using account = openMaven(server.url);
    for (const _ of [1, 2]) expect(await account.read('a:shop:RELEASE')).toBe('one');
    expect(server.sent.filter((sent) => sent.startsWith('304'))).toEqual([]);
  });

  test('are forgotten, the oldest first, where they are many', async () => {
    await using server = await startFiles();
    const large = toMetadata('1.0', documentsRememberedBytesMax / 2.5);
    const names = ['one', 'two', 'three'];
    for (const name of names) {
      server.files.set(`/a/${name}/maven-metadata.xml`, large).set(`/a/${name}/1.0/${name}-1.0.jar`, name);
    }
    server.files.set('/a/huge/maven-metadata.xml', toMetadata('1.0', documentsRememberedBytesMax));
    server.files.set('/a/huge/1.0/huge-1.0.jar', 'huge');
    await using account = openMaven(server.url);
    const read = async (list: readonly string[]) => {
      for (const name of list) expect(await account.read(`a:${name}:RELEASE`)).toBe(name);
      return server
        .takeSent()
        .filter((sent) => sent.endsWith('.xml'))
        .map((sent) => sent.slice(0, 3));
    };
    expect(await read(names)).toEqual(['200', '200', '200']);
    expect(await read(['two', 'three', 'one'])).toEqual(['304', '304', '200']);
    // One that would take all the room takes none.
    expect(await read(['huge', 'huge', 'three', 'one'])).toEqual(['200', '200', '304', '304']);
  });
});

test('descriptors of an Ivy repository are sent once a minute, files each time', async () => {
  await using server = await startFiles();
  const describeModule = (type: string) =>
    `<ivy-module><publications><artifact type="${type}"/></publications></ivy-module>`;
  server.files.set('/a/shop/1.0/ivy.xml', describeModule('jar'));
  server.files.set('/a/shop/1.0/shop.jar', 'jar').set('/a/shop/1.0/shop.war', 'war');
  const folder = `${server.url}/[organisation]/[module]/[revision]`;
  const url = [
    {
      name: 'main',
      ivy: [{ pattern: `${folder}/ivy.xml` }],
      artifact: [{ pattern: `${folder}/[artifact].[ext]` }],
    },
  ];
  await using account = open(openIvySources, ['ivy', 'ivy/file'], { settings: { resolvers: { url } } });
  for (const _ of [1, 2]) expect(await account.read('a:shop:1.0')).toBe('jar');
  server.files.set('/a/shop/1.0/ivy.xml', describeModule('war'));
  expect(await account.read('a:shop:1.0')).toBe('war');
  account.clock.advance(documentRememberedMs);
  expect(await account.read('a:shop:1.0')).toBe('war');
  expect(server.sent).toEqual([
    ...['200 /a/shop/1.0/ivy.xml', '200 /a/shop/1.0/shop.jar'],
    ...['304 /a/shop/1.0/ivy.xml', '200 /a/shop/1.0/shop.jar'],
    ...['200 /a/shop/1.0/ivy.xml', '200 /a/shop/1.0/shop.war'],
    ...['200 /a/shop/1.0/ivy.xml', '200 /a/shop/1.0/shop.war'],
  ]);
});
