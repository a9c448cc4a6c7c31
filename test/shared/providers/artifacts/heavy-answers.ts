import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { deflateSync } from 'node:zlib';
import {
  packTypes,
  toObjectId,
  type WrittenEntry,
  writeCommit,
  writePack,
  writePackAnswer,
  writePacket,
  writeRefs,
  writeTree,
} from '#test/support/artifacts/git-packs.ts';
import { chooseSize } from '#test/support/run/test-size.ts';

/** An index of Helm with 380,000 versions of the chart `web`, of 14 MB. */
export function writeHeavyIndex(): Buffer {
  const versions = Array.from({ length: 380_000 }, (_, each) => `  - urls: [a]\n    version: 1.0.${each}\n`);
  return Buffer.from(`apiVersion: v1\nentries:\n  web:\n${versions.join('')}`);
}

/** Metadata of Maven with as many versions as there may be tags. */
export function writeHeavyMetadata(): Buffer {
  const versions = Array.from({ length: 99_000 }, (_, each) => `<version>1.${each}-rc-a-1-b</version>`);
  return Buffer.from(
    `<metadata><versioning><versions>${versions.join('')}</versions></versioning></metadata>`,
  );
}

/** A descriptor of Ivy with as many files as there may be tags. */
export function writeHeavyDescriptor(): Buffer {
  const files = Array.from({ length: 190_000 }, (_, each) => `<artifact name="a${each}" conf="x"/>`);
  return Buffer.from(`<ivy-module><publications>${files.join('')}</publications></ivy-module>`);
}

/** A page of a registry with as many values as there may be. @param member what holds the names */
export function writeHeavyPage(member: string): Buffer {
  const names = Array.from({ length: 199_000 }, (_, each) => `"  ${each}  "`);
  return Buffer.from(
    JSON.stringify({ [member]: [], more: [] }).replace('"more":[]', `"more":[${names.join()}]`),
  );
}

/** A repository with one file, and 249,000 equal objects beside it, in 2.5 MB. */
export function writeEqualObjects(): GitAnswer {
  const blob = Buffer.from('x');
  const { tip, entries } = writeFiles(['web.yml'], blob);
  const packed = deflateSync(blob);
  const equal = Buffer.concat([Buffer.from([(packTypes.blob << 4) | blob.length]), packed]);
  return {
    tip,
    pack: appendEntries(
      entries,
      Array.from({ length: 249_000 }, () => equal),
    ),
  };
}

/** A repository with one file, and many changes of objects, each before the object that it changes. */
export function writeBackwardDeltas(): GitAnswer {
  const { tip, entries } = writeFiles(['web.yml'], Buffer.from('x'));
  const length = chooseSize({ short: 60_000, long: 240_000 });
  const contents = Array.from({ length }, (_, each) => Buffer.from(String(each).padStart(8, '0')));
  const deltas = contents.slice(1).map((content, each) => ({
    type: packTypes.refDelta,
    base: toObjectId(packTypes.blob, content),
    content: Buffer.concat([Buffer.from([8, 8, 8]), contents[each] ?? content]),
  }));
  const last: WrittenEntry = { type: packTypes.blob, content: contents.at(-1) ?? Buffer.alloc(8) };
  return { tip, pack: writePack([...entries, ...deltas, last]) };
}

/** A repository with one folder of many files. */
export function writeWideFolder(): GitAnswer {
  const length = chooseSize({ short: 60_000, long: 200_000 });
  const names = Array.from({ length }, (_, each) => `a${String(each).padStart(6, '0')}`);
  const { tip, entries } = writeFiles(names, Buffer.from('x'));
  return { tip, pack: writePack(entries) };
}

/** The answer of a server of git. */
export interface GitAnswer {
  readonly tip: string;
  readonly pack: Buffer;
}

/** A server of one repository. */
export function serveGit({ tip, pack }: GitAnswer): RequestListener {
  const answer = writePackAnswer(pack);
  return (request, response) => response.end(request.method === 'POST' ? answer : writeRefs(tip));
}

/** A server of git that goes on saying nothing, 100 MB of it. */
export function serveFlushes(): RequestListener {
  const flushes = Buffer.alloc(2 ** 20, '0000');
  return async (_, response) => {
    response.write(writePacket('# service=git-upload-pack\n'));
    for (let sent = 0; sent < 100 && !response.destroyed; sent += 1) {
      if (!response.write(flushes))
        await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
    }
    response.end();
  };
}

function writeFiles(names: readonly string[], content: Buffer) {
  const id = toObjectId(packTypes.blob, content);
  const tree = writeTree(names.map((name) => ({ mode: '100644', name, id })));
  const commit = writeCommit(toObjectId(packTypes.tree, tree));
  const entries: readonly WrittenEntry[] = [
    { type: packTypes.commit, content: commit },
    { type: packTypes.tree, content: tree },
    { type: packTypes.blob, content },
  ];
  return { tip: toObjectId(packTypes.commit, commit).toString('hex'), entries };
}

/** A pack with further entries that are packed already. */
function appendEntries(entries: readonly WrittenEntry[], packed: readonly Buffer[]): Buffer {
  const checksumBytes = 20;
  const body = writePack(entries, entries.length + packed.length).subarray(0, -checksumBytes);
  const whole = Buffer.concat([body, ...packed]);
  return Buffer.concat([whole, createHash('sha1').update(whole).digest()]);
}
