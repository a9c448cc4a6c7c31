import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FailedOperationError, OverdueError, TooLargeError } from '#core/errors.ts';
import type { CloneLimits } from '#providers/artifacts/git/clone-limits.ts';
import {
  packTypes,
  toObjectId,
  type WrittenEntry,
  writeFilePack,
  writePack,
  writePackAnswer,
  writePacket,
  writeRefs,
} from '#test/support/artifacts/git-packs.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { readArchive } from '../git-repo/git-archives.ts';
import { readBytes } from '../options.ts';
import {
  listFolders,
  open,
  read,
  sendPieces,
  serve,
  serveTree,
  toBlob,
  toCommit,
  toTree,
  type WrittenTree,
} from './test-repository.ts';

// Clones have a temporary folder of their own, to see what they leave there.
let temporary: TempDir;
beforeEach(async () => {
  temporary = await makeTempDir();
  vi.stubEnv('TMPDIR', temporary.path);
});
afterEach(async () => {
  await expect.poll(listFolders).toEqual([]);
  vi.unstubAllEnvs();
  await temporary[Symbol.asyncDispose]();
});

const blob = toBlob('kind: Pod');
const file: WrittenTree = [['100644', 'web.yml', blob]];

/** Numbers of a delta: sizes, seven bits a byte. */
function writeSize(size: number): readonly number[] {
  return size < 128 ? [size] : [(size % 128) | 0x80, ...writeSize(Math.floor(size / 128))];
}

/** A delta, by the sizes that it tells and its commands. */
function writeDelta(baseSize: number, size: number, commands: readonly number[]): Uint8Array {
  return Buffer.from([...writeSize(baseSize), ...writeSize(size), ...commands]);
}

/** A delta of another entry. */
function toDelta(content: Uint8Array, base: WrittenEntry): WrittenEntry {
  return { type: packTypes.refDelta, content, base: toObjectId(base.type, base.content) };
}

const insert = (text: string) => [text.length, ...Buffer.from(text)];

describe('a pack', () => {
  test('may have deltas before their bases, and upon each other', async () => {
    const [second, third] = [toBlob('kind: Pod, two'), toBlob('kind: Pod, two, three')];
    const deltas = [
      toDelta(writeDelta(14, 21, [0x90, 14, ...insert(', three')]), second),
      toDelta(writeDelta(9, 14, [0x90, 9, ...insert(', two')]), blob),
    ];
    const tree = toTree([...file, ['100644', 'x', second], ['100755', 'y', third]]);
    const archived = await readArchive(await read(serveTree(tree, [...deltas, blob])));
    expect([...archived].map(([name, { content, mode }]) => [name, content, mode])).toEqual([
      ['web.yml', 'kind: Pod', 0o664],
      ['x', 'kind: Pod, two', 0o664],
      ['y', 'kind: Pod, two, three', 0o775],
    ]);
  });

  test('may have an object several times', async () => {
    const archived = await readArchive(await read(serveTree(toTree(file), [blob, blob, blob])));
    expect([...archived.keys()]).toEqual(['web.yml']);
  });

  const { tip, pack } = writeFilePack('web.yml', Buffer.from('kind: Pod'));
  const commit = toCommit(toTree(file));
  const withBlob = (entry: WrittenEntry) => [commit.entry, toTree(file), entry];
  /** A delta whose base stands so far before it. */
  const writeDistant = (offset: readonly number[]) =>
    writePack(withBlob({ ...toBlob(writeDelta(1, 1, insert('a'))), type: 6, base: Buffer.from(offset) }));
  test.each<{ what: string; bytes: Uint8Array }>([
    { what: 'is empty', bytes: Buffer.alloc(0) },
    { what: 'is none', bytes: Buffer.from('kind: Pod, which is no pack') },
    {
      what: 'has another version',
      bytes: Buffer.concat([pack.subarray(0, 7), Buffer.from([9]), pack.subarray(8)]),
    },
    { what: 'ends within its head', bytes: pack.subarray(0, 10) },
    { what: 'ends within an object', bytes: pack.subarray(0, pack.length - 30) },
    { what: 'has fewer objects than it tells', bytes: writePack(withBlob(blob), 9) },
    { what: 'lacks an object', bytes: writePack([commit.entry, toTree(file)]) },
    { what: 'has another object in its place', bytes: writePack(withBlob(toBlob('kind: Node'))) },
    { what: 'tells a larger size', bytes: writePack(withBlob({ ...blob, size: 10 })) },
    { what: 'tells a smaller size', bytes: writePack(withBlob({ ...blob, size: 8 })) },
    { what: 'has an object of no known type', bytes: writePack(withBlob({ ...blob, type: 5 })) },
    {
      what: 'has a tree that is a blob',
      bytes: writePack([commit.entry, { ...toTree(file), type: 3 }, blob]),
    },
    {
      what: 'has a delta upon nothing',
      bytes: writePack(withBlob(toDelta(writeDelta(4, 1, insert('a')), toBlob('none')))),
    },
    { what: 'has a delta upon what stands before the first object', bytes: writeDistant([0xff, 0x7f]) },
    { what: 'has a delta upon the middle of an object', bytes: writeDistant([5]) },
    { what: 'has a delta upon itself', bytes: writeDistant([0]) },
    ...[
      { what: 'of a base of another size', delta: writeDelta(8, 1, insert('a')) },
      { what: 'with bytes from behind its base', delta: writeDelta(9, 9, [0x91, 1, 9]) },
      { what: 'that makes too few bytes', delta: writeDelta(9, 9, [0x90, 8]) },
      { what: 'that makes too many bytes', delta: writeDelta(9, 8, [0x90, 9]) },
      { what: 'that ends within a command', delta: writeDelta(9, 9, [100, 1]) },
      { what: 'with a command that is reserved', delta: writeDelta(9, 9, [0]) },
      { what: 'without sizes', delta: Buffer.from([0x80, 0x80]) },
      { what: 'with a size without end', delta: Buffer.alloc(40, 0xff) },
    ].map(({ what, delta }) => ({
      what: `has a delta ${what}`,
      bytes: writePack([...withBlob(blob), toDelta(delta, blob)]),
    })),
  ])('that $what is refused', async ({ bytes }) => {
    expect(tip).toBe(commit.tip);
    await expect(read(serve(tip, bytes))).rejects.toBeInstanceOf(FailedOperationError);
  });

  const bounded = { treeBytesMax: 2 ** 21 };
  const zeros = toBlob(Buffer.alloc(2 ** 16));
  const repeats = Array.from({ length: 64 }, () => 0x80);
  test.each<{
    what: string;
    limits?: Partial<CloneLimits>;
    entries: readonly WrittenEntry[];
    count?: number;
  }>([
    { what: 'has more bytes', limits: { packBytesMax: 3_000 }, entries: [toBlob(randomBytes(4_000))] },
    {
      what: 'has more bytes on disk',
      limits: { folderBytesMax: 3_000 },
      entries: [toBlob(randomBytes(4_000))],
    },
    { what: 'tells more objects', entries: [], count: 2 ** 32 - 1 },
    { what: 'has an object that tells more bytes', entries: [{ ...toBlob('x'), size: 2 ** 40 }] },
    { what: 'has an object of more bytes', limits: bounded, entries: [toBlob(Buffer.alloc(2 ** 22))] },
    {
      what: 'has a delta that makes more bytes',
      limits: bounded,
      entries: [toDelta(writeDelta(9, 2 ** 40, insert('a')), blob)],
    },
    {
      what: 'has a delta that repeats its base more often',
      limits: bounded,
      entries: [zeros, toDelta(writeDelta(2 ** 16, 2 ** 22, repeats), zeros)],
    },
    { what: 'has a delta of more bytes', entries: [toDelta(Buffer.alloc(2 ** 24 + 1), blob)] },
  ])('that $what than it may is refused: 413', async ({ limits = {}, entries, count }) => {
    const all = [...withBlob(blob), ...entries];
    const reading = read(serve(commit.tip, writePack(all, count ?? all.length)), limits);
    await expect(reading).rejects.toBeInstanceOf(TooLargeError);
  });
});

/** Names that NTFS or HFS+ takes for `.git`, and Git refuses therefore. */
const otherDotGits = [
  ...['.git ', '.Git.', '.git. .', 'git~1', 'GIT~1', 'git~1 .', '.git:$DATA', '.git::$INDEX_ALLOCATION'],
  ...['.git\\config', 'a\\.git', 'a\\GIT~1\\b', '.g\u200cit', '\ufeff.git', '.GI\u202eT'],
];

describe('a tree', () => {
  const nothing = toTree([]);

  test('may have names that no file system takes for that of a repository', async () => {
    const names = ['.gitignore', '.github', '.git-x', '.git x', 'git~2', 'git~10', 'x.git', 'a:b', 'a\\b'];
    const tree: WrittenTree = names.map((name) => ['100644', name, blob]);
    const archived = await readArchive(await read(serveTree(toTree(tree), [blob])));
    expect([...archived.keys()]).toEqual(names);
  });

  test.each<{ what: string; tree: WrittenTree }>([
    ...['..', '.', '', '.git', '.GIT', 'a/b', '../x', '/etc', ...otherDotGits].map((name) => ({
      what: `the name ${JSON.stringify(name)}`,
      tree: [['100644', name, blob]] as WrittenTree,
    })),
    {
      what: 'one name twice',
      tree: [
        ['120000', 'a', blob],
        ['100644', 'a', blob],
      ],
    },
    {
      what: 'a link and a folder of one name',
      tree: [
        ['120000', 'a', blob],
        ['40000', 'a', nothing],
      ],
    },
    { what: 'a mode of no meaning', tree: [['777', 'a', blob]] },
    { what: 'a folder that is a file', tree: [['40000', 'a', blob]] },
    { what: 'a file that is a folder', tree: [['100644', 'a', nothing]] },
    { what: 'a path that is too long', tree: [['100644', 'a'.repeat(5_000), blob]] },
  ])('with $what is refused', async ({ tree }) => {
    const reading = read(serveTree(toTree(tree), [blob, nothing]));
    await expect(reading).rejects.toBeInstanceOf(FailedOperationError);
  });

  test('with a name that is not UTF-8 is refused', async () => {
    const content = Buffer.concat([
      Buffer.from('100644 '),
      Buffer.from([0xff, 0]),
      toObjectId(packTypes.blob, blob.content),
    ]);
    const reading = read(serveTree({ type: packTypes.tree, content }, [blob]));
    await expect(reading).rejects.toThrow('not UTF-8');
  });

  test('that ends within an entry is refused', async () => {
    const { type, content } = toTree(file);
    for (const length of [content.length - 1, 10, 3]) {
      const reading = read(serveTree({ type, content: content.subarray(0, length) }, [blob]));
      await expect(reading).rejects.toBeInstanceOf(FailedOperationError);
    }
  });

  test('of ten folders in each of ten folders, and so on, is refused: 413', async () => {
    const trees = [toTree(file)];
    for (let depth = 0; depth < 20; depth += 1) {
      const [inner = nothing] = trees;
      trees.unshift(toTree(Array.from({ length: 10 }, (_, name) => ['40000', `folder-${name}`, inner])));
    }
    const [top = nothing, ...others] = trees;
    const transport = serveTree(top, [...others, blob]);
    await expect(read(transport, { entriesMax: 20_000 })).rejects.toBeInstanceOf(TooLargeError);
    const limits = { entriesMax: Number.MAX_SAFE_INTEGER, timeMs: 500 };
    await expect(read(transport, limits)).rejects.toBeInstanceOf(OverdueError);
  });

  test('of one large file a thousand times is refused: 413', async () => {
    const large = toBlob(Buffer.alloc(2 ** 20));
    const tree: WrittenTree = Array.from({ length: 1_000 }, (_, name) => ['100644', `file-${name}`, large]);
    const limits = { treeBytesMax: 100 * 2 ** 20 };
    await expect(read(serveTree(toTree(tree), [large]), limits)).rejects.toBeInstanceOf(TooLargeError);
  });
});

describe('a server', () => {
  const { tip, pack } = writeFilePack('web.yml', Buffer.from('kind: Pod'));
  const answer = writePackAnswer(pack);
  const refs = writeRefs(tip);

  test.each<{ what: string; advertised?: Uint8Array; answered?: Uint8Array }>([
    { what: 'says nothing', advertised: Buffer.alloc(0) },
    { what: 'answers a page', advertised: Buffer.from('<!doctype html><title>Log in</title>') },
    { what: 'ends within a line', advertised: refs.subarray(0, refs.length - 10) },
    { what: 'tells a line that is too long', advertised: Buffer.from('ffff') },
    { what: 'tells a line that is too short', advertised: Buffer.from('0003') },
    { what: 'goes on without saying anything', advertised: Buffer.alloc(40_004, '0000') },
    { what: 'tells an error', advertised: writePacket('ERR planted') },
    { what: 'tells no ref', advertised: writePacket('planted') },
    { what: 'has ids of SHA-256', advertised: writePacket(`${tip} HEAD\0object-format=sha256\n`) },
    { what: 'cannot send side by side', advertised: writePacket(`${tip} refs/heads/master\0ofs-delta\n`) },
    { what: 'answers nothing', answered: Buffer.alloc(0) },
    { what: 'answers an error', answered: writePacket('ERR planted') },
    { what: 'gives up', answered: Buffer.concat([writePacket('NAK\n'), writePacket('\x03planted')]) },
    { what: 'breaks off', answered: answer.subarray(0, answer.length - 20) },
  ])('that $what is an error without what it said', async ({ advertised = refs, answered = answer }) => {
    const reading = read({
      advertise: async () => sendPieces(advertised),
      request: async () => sendPieces(answered),
    });
    await expect(reading).rejects.toBeInstanceOf(FailedOperationError);
    await expect(reading).rejects.not.toThrow('planted');
  });

  test('that takes too long is given up: 504', async () => {
    const limits = { timeMs: 50 };
    const hang = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const advertise = async () => sendPieces(refs);
    const reading = read({ advertise, request: (_, signal) => hang(signal) }, limits);
    await expect(reading).rejects.toBeInstanceOf(OverdueError);
  });
});

describe('the files of a clone', () => {
  const large = toBlob(randomBytes(3 * 2 ** 20));
  const tree = toTree([['100644', 'large.bin', large]]);

  test('are deleted when the archive was read', async () => {
    const release = vi.fn();
    const archive = await open(serveTree(tree, [large]), {}, { release });
    expect(await listFolders()).toHaveLength(1);
    expect(release).not.toHaveBeenCalled();
    await readBytes(archive);
    await expect.poll(() => release.mock.calls.length).toBe(1);
  });

  test('are deleted when its reader stops', async () => {
    const release = vi.fn();
    for await (const _ of await open(serveTree(tree, [large]), {}, { release })) break;
    await expect.poll(() => release.mock.calls.length).toBe(1);
  });

  test('are deleted when nobody reads it and the caller has gone', async () => {
    const release = vi.fn();
    const leaving = new AbortController();
    await open(serveTree(tree, [large]), {}, { release, signal: leaving.signal });
    leaving.abort();
    await expect.poll(() => release.mock.calls.length).toBe(1);
  });

  test('are deleted when it fails', async () => {
    const release = vi.fn();
    const opening = open(serveTree(tree, []), {}, { release });
    await expect(opening).rejects.toBeInstanceOf(FailedOperationError);
    expect(release).toHaveBeenCalledTimes(1);
  });
});
