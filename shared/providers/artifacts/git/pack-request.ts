import { FailedOperationError } from '#core/errors.ts';
import { formatPacket, notGit, type Packet, readPackets } from './packets.ts';
import {
  formatObjectFormat,
  type GitTransport,
  RefusedByServerError,
  type RemoteRefs,
  toLine,
} from './refs.ts';

/** The requested objects. */
export interface PackRequest {
  /** Ids of commits and tags. */
  readonly wants: readonly string[];
  /** `tip`: their content, without history. `commits`: their history without files. `all`: everything. */
  readonly depth: 'tip' | 'commits' | 'all';
}

/** Whether a server can send histories without files. */
export function canOmitFiles({ version, capabilities }: RemoteRefs): boolean {
  if (version === 0) return capabilities.has('filter');
  return (capabilities.get('fetch') ?? '').split(' ').includes('filter');
}

/** Number of the band with the pack: the first byte of a line is its band. */
const packBand = 1;
const errorBand = 3;

/**
 * Requests objects, and returns the bytes of the pack as they arrive.
 *
 * @throws RefusedByServerError if the server refuses a want, FailedOperationError if it breaks off or its answer is not git's.
 */
export async function* fetchPack(
  transport: GitTransport,
  remote: RemoteRefs,
  { request, signal }: { readonly request: PackRequest; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const body = remote.version === 2 ? formatFetch(remote, request) : formatOldFetch(remote, request);
  let isBegun = false;
  for await (const packet of readPackets(await transport.request({ body, isLast: true }, signal))) {
    if (isBegun) {
      if (packet.kind !== 'data') return;
      const piece = readBand(packet);
      if (piece !== undefined) yield piece;
    } else {
      isBegun = isStart(packet, remote);
    }
  }
  if (!isBegun) throw notGit();
}

/** Whether the pack begins after this line. Lines before it name the commits whose parents are left out. */
function isStart(packet: Packet, { version }: RemoteRefs): boolean {
  if (packet.kind !== 'data') return false;
  const line = toLine(packet);
  return version === 2 ? line === 'packfile' : line === 'NAK';
}

/** The pack's part of a line; undefined for messages to users. */
function readBand({ data }: Packet): Buffer | undefined {
  const [band] = data;
  if (band === packBand) return data.subarray(1);
  if (band === errorBand) throw new FailedOperationError('The git server gave up sending the repository');
  return undefined;
}

function formatFetch({ capabilities }: RemoteRefs, { wants, depth }: PackRequest): string {
  return [
    formatPacket('command=fetch'),
    formatObjectFormat(capabilities),
    '0001',
    ...['ofs-delta', 'no-progress'].map(formatPacket),
    ...(depth === 'tip' ? [formatPacket('deepen 1')] : []),
    ...(depth === 'commits' ? [formatPacket('filter tree:0')] : []),
    ...wants.map((id) => formatPacket(`want ${id}`)),
    formatPacket('done'),
    '0000',
  ].join('');
}

/** The same in the previous version. A server that cannot leave out history sends it. */
function formatOldFetch({ capabilities }: RemoteRefs, { wants, depth }: PackRequest): string {
  if (!capabilities.has('side-band-64k')) {
    throw new RefusedByServerError('The git server is too old: it has no side-band-64k');
  }
  const wanted = ['side-band-64k', 'ofs-delta', 'no-progress', 'shallow', 'filter'];
  const listed = wanted.filter((name) => capabilities.has(name)).join(' ');
  const [first = '', ...others] = wants.map((id) => `want ${id}`);
  return [
    formatPacket(`${first} ${listed}`),
    ...others.map(formatPacket),
    ...(depth === 'tip' && capabilities.has('shallow') ? [formatPacket('deepen 1')] : []),
    ...(depth === 'commits' ? [formatPacket('filter tree:0')] : []),
    '0000',
    formatPacket('done'),
  ].join('');
}
