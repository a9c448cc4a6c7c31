import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflateRaw, gzip } from 'node:zlib';
import { packTar } from 'modern-tar';

/** A file, link or folder of an archive. Owner and times are left out, so that the same contents make the same archive. */
export interface Entry {
  /** Its path in the archive, with `/` between. */
  readonly name: string;
  /** Such as 0o755. Default 0o644. */
  readonly mode?: number;
  /** What is in it. Default: nothing. */
  readonly body?: Uint8Array | string;
  /** Where a symbolic link points. */
  readonly linkname?: string;
  /** Default: a file, or a link where `linkname` is given. */
  readonly type?: 'directory';
}

/** A tar, uncompressed, with its entries in the order of their names. */
export function pack(entries: readonly Entry[]): Promise<Uint8Array<ArrayBuffer>> {
  const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return packTar(
    sorted.map(({ name, mode = 0o644, body = '', linkname, type }) => ({
      header: {
        ...{ name, mode, size: Buffer.byteLength(body), uid: 0, gid: 0, mtime: new Date(0) },
        type: type ?? (linkname === undefined ? 'file' : 'symlink'),
        ...(linkname !== undefined && { linkname }),
      },
      body,
    })),
  );
}

/** Compresses without a name or a time. */
export const compress = promisify(gzip);

/** All files and links below a folder. @param prefix goes before their names, such as `usr/` */
export async function readFolder(folder: string, prefix = ''): Promise<readonly Entry[]> {
  const names = await readdir(folder, { recursive: true });
  const entries = names.map(async (name): Promise<readonly Entry[]> => {
    const file = path.join(folder, name);
    const status = await lstat(file);
    const found = {
      name: prefix + name.replaceAll(path.sep, '/'),
      mode: status.mode & 0o111 ? 0o755 : 0o644,
    };
    if (status.isSymbolicLink()) return [{ ...found, linkname: await readlink(file) }];
    return status.isFile() ? [{ ...found, body: await readFile(file) }] : [];
  });
  return (await Promise.all(entries)).flat();
}

/** The first day that a ZIP can name, 1980-01-01, as it writes days. */
const firstDay = 0x21;

/**
 * A ZIP with its entries in the order of their names, as Lambda takes it; the layout is that of PKWARE's APPNOTE.TXT, 4.3.7 and 4.3.12,
 * without its extensions: at most 65,535 entries and 4 GiB.
 */
export async function zip(entries: readonly Entry[]): Promise<Uint8Array> {
  const [locals, central]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const { name, mode = 0o644, body = '' } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const plain = Buffer.from(body);
    const data = await promisify(deflateRaw)(plain);
    const file = Buffer.from(name);
    const fields = Buffer.alloc(26);
    // Version 2.0, names in UTF-8, deflated.
    for (const [at, value] of [
      [0, 20],
      [2, 0x800],
      [4, 8],
      [8, firstDay],
      [22, file.length],
    ] as const)
      fields.writeUInt16LE(value, at);
    for (const [at, value] of [
      [10, crc32(plain)],
      [14, data.length],
      [18, plain.length],
    ] as const)
      fields.writeUInt32LE(value, at);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, file, data]);
    // Made by a Unix: its mode is kept.
    const made = Buffer.from([20, 3]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((0o100000 | mode) * 0x10000, 6);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), made, fields, rest, file]));
    locals.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(Buffer.concat(central).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...central, end]);
}
