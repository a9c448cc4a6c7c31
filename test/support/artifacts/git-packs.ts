import { createHash } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { deflateSync } from 'node:zlib';

/** Numbers of the kinds of entries of a pack. */
export const packTypes = { commit: 1, tree: 2, blob: 3, tag: 4, offsetDelta: 6, refDelta: 7 } as const;

/** An entry of a pack, as it is written. */
export interface WrittenEntry {
  readonly type: number;
  /** What is compressed. */
  readonly content: Uint8Array;
  /** Size that is told. Default: that of the content. */
  readonly size?: number;
  /** What stands between head and content: where the base of a delta is. */
  readonly base?: Uint8Array;
}

const typeNames = ['', 'commit', 'tree', 'blob', 'tag'];

/** The id of an object, 20 bytes. */
export function toObjectId(type: number, content: Uint8Array): Buffer {
  return createHash('sha1').update(`${typeNames[type]} ${content.length}\0`).update(content).digest();
}

/** A pack, with as many objects as are told. Default: as there are. */
export function writePack(entries: readonly WrittenEntry[], count = entries.length): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(count, 8);
  const body = Buffer.concat([head, ...entries.flatMap(writeEntry)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function writeEntry({ type, content, size = content.length, base }: WrittenEntry): readonly Uint8Array[] {
  const bytes = [(type << 4) | (size % 16)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest % 128);
  }
  return [Buffer.from(bytes), ...(base === undefined ? [] : [base]), compress(content)];
}

/** Bytes of contents that are stored as they are: to compress each of hundreds of thousands takes half a minute. */
const storedBytesMax = 16;

function compress(content: Uint8Array): Buffer {
  if (content.length > storedBytesMax) return deflateSync(content);
  const stored = Buffer.alloc(11 + content.length);
  // RFC 1950: no compression; RFC 1951: one last block, stored.
  stored.writeUInt16BE(0x78_01, 0);
  stored.writeUInt8(1, 2);
  stored.writeUInt16LE(content.length, 3);
  stored.writeUInt16LE(0xff_ff - content.length, 5);
  stored.set(content, 7);
  let [one, other] = [1, 0];
  for (const byte of content) {
    one = (one + byte) % 65_521;
    other = (other + one) % 65_521;
  }
  stored.writeUInt32BE(other * 0x1_00_00 + one, 7 + content.length);
  return stored;
}

/** A list of a folder. */
export function writeTree(entries: readonly { mode: string; name: string; id: Buffer }[]): Buffer {
  return Buffer.concat(entries.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), id]));
}

/** A commit of a tree. */
export function writeCommit(tree: Buffer): Buffer {
  const who = 'Ann <ann@example.com> 1767323045 +0000';
  return Buffer.from(`tree ${tree.toString('hex')}\nauthor ${who}\ncommitter ${who}\n\nchange\n`);
}

/** A repository of one file. */
export function writeFilePack(name: string, content: Uint8Array) {
  const blob = { type: packTypes.blob, content };
  const tree = writeTree([{ mode: '100644', name, id: toObjectId(packTypes.blob, content) }]);
  const commit = writeCommit(toObjectId(packTypes.tree, tree));
  const entries = [
    { type: packTypes.commit, content: commit },
    { type: packTypes.tree, content: tree },
    blob,
  ];
  return { tip: toObjectId(packTypes.commit, commit).toString('hex'), pack: writePack(entries) };
}

/** A line of git's protocol. */
export function writePacket(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** What a server of the old protocol says of a repository with one branch. */
export function writeRefs(tip: string): Buffer {
  return Buffer.concat([
    writePacket('# service=git-upload-pack\n'),
    Buffer.from('0000'),
    writePacket(`${tip} HEAD\0side-band-64k ofs-delta shallow\n`),
    writePacket(`${tip} refs/heads/master\n`),
    Buffer.from('0000'),
  ]);
}

/** What it answers with a pack. */
export function writePackAnswer(pack: Uint8Array): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < pack.length; at += 60_000) {
    pieces.push(writePacket(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + 60_000)])));
  }
  return Buffer.concat([writePacket('NAK\n'), ...pieces, Buffer.from('0000')]);
}

/**
 * A server whose repositories hold one file each. What `sendFile` answers to the first request about one is the file; where it redirects,
 * that is to another repository.
 */
export function createOneFileServer(sendFile: RequestListener): RequestListener {
  let pack: Uint8Array = Buffer.alloc(0);
  return (request, response) => {
    if (request.method === 'POST') {
      response.end(writePackAnswer(pack));
      return;
    }
    changeAnswer(response, (content) => {
      const written = writeFilePack('web.yml', content);
      ({ pack } = written);
      return writeRefs(written.tip);
    });
    sendFile(request, response);
  };
}

/** Changes the body of an answer that is sent at once and is no error, and the place that a redirect leads to. */
function changeAnswer(response: ServerResponse, change: (content: Buffer) => Buffer): void {
  const end = response.end.bind(response);
  const write = response.write.bind(response);
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status: number, headers: unknown) => {
    const { location, ...others } = { ...(headers as Record<string, string> | undefined) };
    return writeHead(status, { ...others, ...(location && { location: `${location}/info/refs` }) });
  };
  // The beginning of a line of git's protocol.
  response.write = (content: unknown) => write(`0fff${String(content)}`);
  response.end = (content: unknown) => {
    if (response.headersSent) return end(content);
    return end(change(Buffer.from(String(content ?? ''))));
  };
}
